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
    nonisolated let loop: EventLoop

    private let connection: Connection
    let defaults: RemoteDefaults
    let makeEngine: EngineMaker
    let describe: Describer
    let keys: KeyKeeper
    let machine: String
    let log: @Sendable (String) -> Void
    let onStatus: @Sendable (RoamStatus) -> Void
    var roamer: Roamer?
    var engine: (any Engine)?
    var settings: RoamSettings?
    var stateFile: StateFile?
    var status = RoamStatus()
    var schedule: RoundSchedule
    var isStopping = false
    /// Why the service cannot go on; nil if it was stopped.
    private var end: (any Error)?

    /// What is to be done at the next turn.
    var areSettingsDue = true
    var areLocksDue = false
    private var sleeper: CheckedContinuation<Void, Never>?
    private var timer: EventLoop.Timer?
    var lastPush: ContinuousClock.Instant?
    var waiters: [CheckedContinuation<Void, any Error>] = []
    var errands: [Errand] = []
    /// The passphrase for the next turn.
    var offer: KeyKeeper.Offer?
    /// Why the user did not unlock the keyring, so that it does not ask again by itself.
    var refusedKeyring: SecretsError?
    var hearsNews = false

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

    func wake(for cause: RoundSchedule.Cause) {
        schedule.note(cause)
        if schedule.wait(pollInterval: nil) == .none { endSleep() }
    }

    func endSleep() {
        sleeper?.resume()
        sleeper = nil
    }

    /// Waits until there is something to do.
    private func sleep() async {
        timer?.cancel()
        timer = nil
        await withCheckedContinuation { continuation in
            // This must be checked here: other work of the loop may have run since the call above.
            let wait = isStopping ? .none : schedule.wait(pollInterval: engine?.pollInterval)
            guard wait != .none, errands.isEmpty else { return continuation.resume() }
            if case .time(let pause) = wait {
                timer = loop.schedule(after: pause) {
                    self.assumeIsolated { $0.wake(for: .time) }
                }
            }
            sleeper = continuation
        }
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
}
