package import DBus
import DefaultsClient
import DefaultsProtocol
package import DefaultsSecrets
import Glibc
import RoamingTerms

// Invariants
//
// 1. Rounds and errands come one after the other. So nothing of a roamer runs while another one is made,
//    and an engine has one call at a time.
// 2. While both sides are the same and nothing is heard, nothing is done: no timer runs, except that of an
//    engine that cannot tell of news.
// 3. After a failure the next attempt comes after a time that doubles, whatever has failed, and at once
//    only if somebody asks for it or changes what is set up.

/// The roaming service: makes a round whenever there may be something to exchange.
package actor RoamService {
    /// Makes an engine.
    ///
    /// The second argument is the directory of the database, where the engine may keep files.
    package typealias EngineMaker =
        @Sendable (RoamSettings.Place, String, EventLoop) throws -> any Engine
    /// Says where a place is, for people.
    ///
    /// An address that somebody has stored may have a password, which must not be shown.
    package typealias Describer = @Sendable (RoamSettings.Place) -> String

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop

    private let connection: Connection
    private let defaults: RemoteDefaults
    private let makeEngine: EngineMaker
    private let describe: Describer
    private let keys: KeyKeeper
    private let machine: String
    private let log: @Sendable (String) -> Void
    private let onStatus: @Sendable (RoamStatus) -> Void
    private var roamer: Roamer?
    private var engine: (any Engine)?
    private var settings: RoamSettings?
    private var stateFile: StateFile?
    private(set) var status = RoamStatus()
    private var schedule: RoundSchedule
    private var isStopping = false
    /// Why the service cannot go on; nil if it was stopped.
    private var end: (any Error)?

    /// What is to be done at the next turn.
    private var areSettingsDue = true
    private var areLocksDue = false
    private var sleeper: CheckedContinuation<Void, Never>?
    private var timer: EventLoop.Timer?
    private var lastPush: ContinuousClock.Instant?
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    private var errands: [Errand] = []
    /// The passphrase for the next turn.
    private var offer: KeyKeeper.Offer?
    /// Why the user did not unlock the keyring, so that it does not ask again by itself.
    private var refusedKeyring: SecretsError?
    private var hearsNews = false

    /// The least time between two pushes: a slider that is dragged is not sent point by point.
    private static let pushInterval = Duration.seconds(1)
    /// How many signals may wait.
    private static let limit = 1024

    /// Makes a service that does nothing yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus.
    ///   - machine: The name of the machine, for people.
    ///   - log: Takes a line for the log.
    ///   - onStatus: Is told the state each time it has changed.
    ///   - secrets: Where the keys of encrypted places are.
    ///   - shortestPause: The pause after the first failure.
    ///   - describe: Says where a place is.
    ///   - makeEngine: Makes an engine of a place.
    package init(
        on connection: Connection, machine: String, log: @escaping @Sendable (String) -> Void,
        onStatus: @escaping @Sendable (RoamStatus) -> Void,
        secrets: Secrets = Secrets(domain: RoamTerms.domain),
        shortestPause: Duration = .seconds(2), describe: @escaping Describer,
        makeEngine: @escaping EngineMaker
    ) {
        loop = connection.loop
        self.connection = connection
        defaults = RemoteDefaults(over: connection)
        self.machine = machine
        self.log = log
        self.onStatus = onStatus
        schedule = RoundSchedule(shortestPause: shortestPause)
        self.describe = describe
        self.makeEngine = makeEngine
        keys = KeyKeeper(secrets, defaults)
    }

    /// Works until ``stop()`` is called or the bus ends.
    ///
    /// - Throws: What prevents the start, such as that the service runs already, or what prevents it from
    ///   following the changes of the daemon.
    package func run() async throws {
        await connection.identifyCallers(refusing: RoamCallers.refusal)
        await connection.export([interface], at: RoamContract.path)
        // Followed first: a change that is made meanwhile is not missed.
        let changes = try await defaults.changes()
        let owners = try await connection.ownerChanges(of: Contract.busName, limit: Self.limit)
        guard try await connection.requestName(RoamContract.busName, [.doNotQueue]) == .primaryOwner
        else { throw RoamError("Another roaming service is running for this user.") }
        await connection.onDisconnect { self.assumeIsolated { $0.stop() } }
        let following = [
            Task(executorPreference: loop) { await self.follow(changes) },
            Task(executorPreference: loop) { await self.follow(owners) },
        ]
        while !isStopping {
            if schedule.wait(pollInterval: nil) == .none { await turn() }
            await carryOutErrands()
            await sleep()
        }
        for task in following { task.cancel() }
        await engine?.close()
        for waiter in waiters { waiter.resume(throwing: RoamError.ended) }
        waiters = []
        await carryOutErrands()
        if let end { throw end }
    }

    /// Ends ``run()`` after the present step.
    package func stop() {
        isStopping = true
        endSleep()
    }

    /// Reads the settings again, and makes a round.
    package func refresh() async {
        areSettingsDue = true
        refusedKeyring = nil
        await roamer?.noteMissedChanges()
        wake(for: .request)
    }

    // MARK: Hearing

    private func follow(_ changes: some AsyncSequence<ChangeNotice, any Error> & Sendable) async {
        do {
            for try await notice in changes {
                switch notice {
                case .change(let change): await hear(change)
                case .missed: await noteMissedChanges()
                }
            }
        } catch {
            // A new start follows them from the beginning.
            end = RoamError("The changes of the daemon cannot be followed: \(error)")
        }
        stop()
    }

    private func follow(_ owners: SignalStream) async {
        // A daemon that was killed may have made changes without a signal.
        for await _ in owners { await refresh() }
    }

    /// More was changed than could be followed.
    private func noteMissedChanges() async {
        (areSettingsDue, areLocksDue) = (true, true)
        await roamer?.noteMissedChanges()
        wake(for: .news)
    }

    private func hear(_ change: DefaultsChange) async {
        let isOwn = change.origin == connection.uniqueName?.string
        if change.domain == RoamTerms.domain { areSettingsDue = true }
        if change.layer == DefaultsLayer.managed.rawValue { areLocksDue = true }
        if change.layer == DefaultsLayer.domain.rawValue {
            await roamer?.noteChange(of: change.changed + change.removed, in: change.domain)
        }
        let roams = settings?.choice.rule(for: change.domain) != nil
        // What this service has stored needs no round, unless it is the choice of what roams.
        if change.domain == RoamTerms.domain {
            wake(for: isOwn ? .news : .request)
        } else if areLocksDue || roams && !isOwn {
            wake(for: .news)
        }
    }

    private func wake(for cause: RoundSchedule.Cause) {
        schedule.note(cause)
        if schedule.wait(pollInterval: nil) == .none { endSleep() }
    }

    private func endSleep() {
        sleeper?.resume()
        sleeper = nil
    }

    /// Waits until there is something to do.
    private func sleep() async {
        timer?.cancel()
        timer = nil
        let wait = isStopping ? .none : schedule.wait(pollInterval: engine?.pollInterval)
        guard wait != .none, errands.isEmpty else { return await spacePushes() }
        if case .time(let pause) = wait {
            timer = loop.schedule(after: pause) {
                self.assumeIsolated { $0.wake(for: .time) }
            }
        }
        await withCheckedContinuation { sleeper = $0 }
        await spacePushes()
    }

    /// Waits until some time after the last push.
    private func spacePushes() async {
        guard let lastPush, !isStopping else { return }
        let rest = Self.pushInterval - lastPush.duration(to: .now)
        guard rest > .zero, waiters.isEmpty, errands.isEmpty else { return }
        await withCheckedContinuation { continuation in
            loop.schedule(after: rest) { continuation.resume() }
        }
    }

    // MARK: Errands

    /// Something to be done with the engine that is no round.
    private typealias Errand = @Sendable () async -> Void

    /// Does something with the engine when no round and no other errand runs.
    private func betweenRounds<Result: Sendable>(
        _ body: @escaping @Sendable (RoamService) async throws -> Result
    ) async throws -> Result {
        guard !isStopping else { throw RoamError.ended }
        return try await withCheckedThrowingContinuation { continuation in
            errands.append {
                do {
                    guard await !self.isStopping else { throw RoamError.ended }
                    continuation.resume(returning: try await body(self))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            endSleep()
        }
    }

    private func carryOutErrands() async {
        while !errands.isEmpty { await errands.removeFirst()() }
    }

    // MARK: Working

    private func turn() async {
        schedule.begin()
        let waiting = waiters
        waiters = []
        let offered = offer
        offer = nil
        do {
            do {
                try await work(with: offered)
            } catch {
                // It is looked at once for each problem: what is wrong is mostly the place.
                guard status.problem != "\(error)", try await replaceDamagedState() else {
                    throw error
                }
                try await work(with: offered)
            }
            schedule.end(hasFailed: false)
            status.problem = ""
            // A request that cannot be met is no failure of roaming.
            let refusal: RoamError? = roamer == nil ? isPaused ? .paused : .turnedOff : nil
            for waiter in waiting {
                if let refusal { waiter.resume(throwing: refusal) } else { waiter.resume() }
            }
        } catch {
            schedule.end(hasFailed: true)
            if offered != nil { await leaveEngine() }
            if status.problem != "\(error)" { log("\(error)") }
            status.problem = "\(error)"
            status.state = .failing
            waiting.forEach { $0.resume(throwing: error) }
        }
        await report()
    }

    /// Sets the file with the state aside if it is damaged, so that this replica joins anew.
    ///
    /// - Returns: Whether it was.
    private func replaceDamagedState() async throws -> Bool {
        guard let stateFile, stateFile.isDamaged else { return false }
        // What has the file open must not write to it any more.
        await leaveEngine()
        let new = try stateFile.setAside()
        log("The state of roaming was damaged. It is now '\(new)', and this machine joins anew.")
        return true
    }

    /// Reads what was set up, and makes a roamer for it.
    private func prepare(with offer: KeyKeeper.Offer?) async throws {
        if areSettingsDue {
            // First: they may change while they are read.
            areSettingsDue = false
            let read: RoamSettings
            do {
                read = try await RoamSettings.read(from: defaults)
            } catch {
                areSettingsDue = true
                throw error
            }
            for (key, reason) in read.choice.faults {
                log("\(RoamTerms.domain) says nothing under \(key): \(reason)")
            }
            if read.place != settings?.place || read.isEnabled != settings?.isEnabled
                || read.isEncrypted != settings?.isEncrypted
            {
                await leaveEngine()
            }
            settings = read
            try await roamer?.change(to: read.choice)
        }
        if areLocksDue {
            areLocksDue = false
            await roamer?.noteChangedLocks()
        }
        if let offer {
            guard settings?.isEncrypted == true else { throw RoamError.notEncrypted }
            guard !offer.passphrase.isEmpty else { throw RoamError.emptyPassphrase }
            await leaveEngine()
        }
        guard roamer == nil, let settings, settings.isEnabled, let place = settings.place else {
            return
        }
        let path = try await defaults.status().databasePath
        let directory = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        stateFile = StateFile(path: "\(directory)/\(RoamState.fileName)")
        var (engine, name) = (try makeEngine(place, directory, loop), "\(place)")
        if settings.isEncrypted {
            engine = sealed(engine, at: place, with: offer)
            name = "encrypted \(place)"
        }
        roamer = try Roamer(
            defaults, at: engine, named: name, stateDirectory: directory, machine: machine,
            choice: settings.choice, on: loop)
        self.engine = engine
    }

    private func sealed(
        _ engine: any Engine, at place: RoamSettings.Place, with offer: KeyKeeper.Offer?
    ) -> any Engine {
        SealedEngine(engine, on: loop) { look in
            if offer == nil, let refused = await self.refusedKeyring { throw refused }
            do {
                return try await self.keys.findKey(of: place, with: offer, look)
            } catch let error as SecretsError {
                if [.dismissed, .locked].contains(error.code) { await self.note(refused: error) }
                throw error
            }
        }
    }

    private func note(refused error: SecretsError) { refusedKeyring = error }

    private func leaveEngine() async {
        await engine?.close()
        (roamer, engine, hearsNews) = (nil, nil, false)
    }

    private func work(with offer: KeyKeeper.Offer?) async throws {
        try await prepare(with: offer)
        guard let roamer else { return }
        status.state = .working
        let (pushed, stored) = try await roamer.round()
        if pushed > 0 { lastPush = .now }
        status.pushed += UInt64(pushed)
        status.stored += UInt64(stored)
        status.lastRound = UInt64(time(nil))
        if !hearsNews {
            try await engine?.onNews { self.assumeIsolated { $0.wake(for: .news) } }
            hearsNews = true
        }
    }

    private func report() async {
        if let roamer {
            if status.problem.isEmpty { status.state = .upToDate }
            status = await roamer.described(in: status)
        } else if status.problem.isEmpty {
            status.state = isPaused ? .paused : .off
        }
        status.unusable = await engine?.problems ?? []
        status.place = settings?.place.map(describe) ?? ""
        onStatus(status)
    }
}

// MARK: Calls

extension RoamService {
    private var interface: Interface {
        Interface(
            RoamContract.interface,
            methods: [
                Method(RoamContract.getStatus, out: [Argument("status", "a{sv}")]) { call in
                    try self.assumeIsolated { service in
                        let values = service.status.values
                        try call.reply { try $0.writeValue(values) }
                    }
                },
                Method(RoamContract.roamNow) { call in
                    try self.answer(call) {
                        try await $0.roamNow()
                    } reply: { _, _ in
                    }
                },
                Method(
                    RoamContract.encrypt,
                    in: [Argument("passphrase", "s"), Argument("mayMakeKey", "b")]
                ) { call in
                    let offer = try call.arguments {
                        KeyKeeper.Offer(
                            passphrase: try $0.readString(), mayMakeKey: try $0.readBool())
                    }
                    try self.answer(call) {
                        try await $0.roamNow(with: offer)
                    } reply: { _, _ in
                    }
                },
                Method(RoamContract.changePassphrase, in: [Argument("passphrase", "s")]) { call in
                    let passphrase = try call.arguments { try $0.readString() }
                    try self.answer(call) {
                        try await $0.changePassphrase(to: passphrase)
                    } reply: { _, _ in
                    }
                },
                Method(RoamContract.listMachines, out: [Argument("machines", "a(ssxb)")]) { call in
                    try self.answer(call) {
                        try await $0.betweenRounds { try await $0.machines() }
                    } reply: { machines, writer in
                        try writer.writeArray(of: "(ssxb)") { array in
                            for machine in machines {
                                try array.writeStructure {
                                    try $0.writeString(machine.id.description)
                                    try $0.writeString(machine.name)
                                    try $0.writeInt64((machine.seen ?? 0) / 1_000_000)
                                    try $0.writeBool(machine.isThis)
                                }
                            }
                        }
                    }
                },
                Method(RoamContract.forgetMachine, in: [Argument("id", "s")]) { call in
                    let id = try call.arguments { try $0.readString() }
                    try self.answer(call) {
                        try await $0.betweenRounds { try await $0.forget(id) }
                    } reply: { _, _ in
                    }
                },
            ])
    }

    /// Answers a call when something has ended.
    private nonisolated func answer<Result: Sendable>(
        _ call: sending MethodCall,
        with body: @escaping @Sendable (RoamService) async throws -> Result,
        reply: @escaping @Sendable (Result, inout MessageWriter) throws -> Void
    ) throws {
        let detached = try call.detach()
        Task(executorPreference: loop) {
            do {
                let result = try await body(self)
                try detached.write { try reply(result, &$0) }
                detached.end { call in
                    do { try detached.sendReply() } catch { call.fail(error) }
                }
            } catch {
                let name = error is NoKey ? RoamContract.noKey : RoamContract.failed
                detached.end { $0.fail(DBusError(name, "\(error)")) }
            }
        }
    }

    /// Whether a place was set, and roaming is turned off for now.
    private var isPaused: Bool { settings?.place != nil && settings?.isEnabled == false }

    private func changePassphrase(to passphrase: String) async throws {
        guard let settings, settings.isEncrypted, let place = settings.place else {
            throw RoamError.notEncrypted
        }
        guard !passphrase.isEmpty else { throw RoamError.emptyPassphrase }
        guard let key = try await keys.key(of: place) else { throw RoamError.noKeyHere }
        try await keys.wrap(key, passphrase)
        await roamer?.noteChange(of: [WrappedKey.key.name], in: WrappedKey.key.domain)
        try await roamNow()
    }

    /// Makes a round, and waits for its end.
    ///
    /// - Parameter offer: A passphrase for it.
    private func roamNow(with offer: KeyKeeper.Offer? = nil) async throws {
        guard !isStopping else { throw RoamError.ended }
        refusedKeyring = nil
        // The signals of the last changes may still be on their way.
        areSettingsDue = true
        await roamer?.noteMissedChanges()
        try await withCheckedThrowingContinuation { continuation in
            // Together, so that they belong to the same round.
            waiters.append(continuation)
            if let offer { self.offer = offer }
            wake(for: .request)
        }
    }

    private struct ListedMachine: Sendable {
        let id: ReplicaID
        let name: String
        let seen: Int64?
        let isThis: Bool
    }

    private func machines() async throws -> [ListedMachine] {
        guard let engine, let roamer else { throw RoamError("Roaming is turned off.") }
        let own = await roamer.replica.id
        return try await engine.machines().map {
            ListedMachine(id: $0.id, name: $0.name, seen: $0.seen, isThis: $0.id == own)
        }
    }

    private func forget(_ text: String) async throws {
        guard let engine, let roamer else { throw RoamError("Roaming is turned off.") }
        guard let id = ReplicaID(text) else {
            throw RoamError("'\(text)' is not the UUID of a machine.")
        }
        guard await roamer.replica.id != id else {
            throw RoamError(
                "This machine cannot forget itself; see: defaultsctl roam disable --help")
        }
        try await engine.forget(id)
    }
}

extension RoamError {
    fileprivate static let ended = RoamError("The service has ended.")
    fileprivate static let turnedOff = RoamError(
        "Roaming is turned off; see: defaultsctl roam enable --help")
    fileprivate static let paused = RoamError(
        "Roaming is paused. To continue: defaultsctl roam resume")
}
