package import DBus
package import DefaultsClient
import SQLite
package import RoamingTerms

// Invariants
//
// 1. A value of the engine is stored here only if the key has not changed since its domain was looked at,
//    and if nothing was edited there. So it replaces a value that the engine had.
// 2. What leaves this machine is on its disk first. Otherwise a power cut would travel as an edit.
// 3. A change here, and a batch there, has a name that is on disk before it is made. After a lost reply it
//    is asked for by this name, and never made twice.
// 4. A removal is believed only if the database has a record of it.
// 5. What loses is stored as a value of `RoamTerms.conflicts` before the engine forgets about it.
// 6. What is known in memory about the replica changes when it is on disk. So a full disk loses nothing.
// 7. An edit that was changed back is forgotten when the change back is on disk. Otherwise a power cut
//    would leave a value that is neither an edit nor the engine's.

/// Keeps the defaults of a replica and an engine the same.
///
/// A round looks for changes on both sides and exchanges them. It goes on from any point at which an
/// earlier one was interrupted.
///
/// It is a client of the daemon's contract, and needs nothing else of it.
package actor Roamer {
    /// The most edits that are pushed at once.
    static let largestBatch = 500
    /// The most bytes of archives in a batch, a change, or a page of memory.
    static let largestBytes = 8 << 20
    /// The number of versions of a page.
    static let pageLimit = 1000
    /// What the daemon refuses for good, as long as nothing else changes.
    static let refusalCodes: Set<DefaultsError.Code> = [
        .locked, .tooLarge, .refused, .limitsExceeded,
    ]
    /// How many times a round looks again, while others go on changing keys.
    private static let longestRound = 20
    /// How many times others may change a domain while versions are being stored in it.
    private static let attempts = 5

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop

    let defaults: RemoteDefaults
    let engine: any Engine
    let state: RoamState
    let machine: String
    let clock: @Sendable () -> Moment
    /// Called between steps with the name of the next one, by tests that interrupt a round there.
    let beforeStep: @Sendable (String) async throws -> Void
    var replica: ReplicaRecord
    var choice: RoamChoice
    /// The domains that may have changes; nil if any may.
    var changed: Set<String>?
    /// When changes were heard of.
    var heard: [RoamingKey: Moment] = [:]
    /// The names of other machines.
    var machineNames: [ReplicaID: String] = [:]
    /// What the engine has sent and nobody can use, with the reason.
    package private(set) var refusals: [RoamingKey: String] = [:]
    /// Why values that lost cannot be kept; nil if they can.
    var obstacleToKeeping: String?
    /// Whether the engine was told how far this replica is, since the start.
    private var hasReported = false
    /// Whether the engine was never met, so that the state has what is known of an earlier one.
    private(set) var isNew = false
    /// The day on which old values that lost were last looked for.
    var lastDay: Int64?
    /// When what could not be exchanged was last tried; nil if it is to be tried now.
    private var lastRetry: Moment?
    /// How long something that could not be exchanged is left alone.
    private static let retryInterval = Duration.seconds(24 * 3600)

    /// Makes a roamer that has looked at nothing yet.
    ///
    /// - Parameters:
    ///   - defaults: The daemon.
    ///   - engine: The engine.
    ///   - engineName: What tells the engine from another one, such as its address.
    ///   - stateDirectory: The directory of the database.
    ///   - machine: The name of the machine, for people.
    ///   - choice: What roams.
    ///   - clock: What time it is.
    ///   - beforeStep: Called between the steps of a round; a test may interrupt it there.
    ///   - loop: The loop of all of them.
    /// - Throws: ``RoamError`` and `SQLiteError` if the state cannot be used.
    package init(
        _ defaults: RemoteDefaults, at engine: any Engine, named engineName: String,
        stateDirectory: String, machine: String, choice: RoamChoice,
        clock: @escaping @Sendable () -> Moment = { .now },
        beforeStep: @escaping @Sendable (String) async throws -> Void = { _ in },
        on loop: EventLoop
    ) throws {
        self.loop = loop
        self.clock = clock
        self.beforeStep = beforeStep
        self.defaults = defaults
        self.engine = engine
        self.machine = machine
        self.choice = choice
        state = try RoamState(path: stateDirectory + "/" + RoamState.fileName)
        guard let known = try state.replica(), known.engine == engineName else {
            // What is known of an earlier engine is forgotten when this one is met, and not if its
            // address is wrong.
            replica = try state.candidate(for: engineName)
            isNew = true
            return
        }
        replica = known
        let former = try state.choice(isEncrypted: choice.isEncrypted)
        if former != choice {
            replica.revision = 0
            try state.change(from: former, to: choice, replica)
        }
    }

    /// Looks at both sides once, and exchanges what has changed.
    ///
    /// - Returns: How many edits were pushed and how many versions were stored.
    /// - Throws: What interrupted the round: ``EngineError``, `DefaultsError`, `SQLiteError`.
    @discardableResult
    package func round() async throws -> (pushed: Int, stored: Int) {
        try await settle()
        try retryWhenDue()
        do {
            try await meet()
        } catch {
            // What waits is known, and dated, while the engine is away.
            if !isNew, try state.pushedValues().isEmpty { try? await scanChanged() }
            throw error
        }
        try await resume()
        try await expireConflicts()
        var (pushed, stored) = (0, 0)
        for _ in 0..<Self.longestRound {
            try await scanChanged()
            try await pull()
            stored += try await storeArrivals()
            let (count, isAgainDue) = try await push()
            pushed += count
            if !isAgainDue, changed?.isEmpty == true { break }
        }
        return (pushed, stored)
    }

    /// The name of this replica.
    package var replicaID: ReplicaID { replica.id }

    // MARK: What others tell

    /// A change of the user's own layer was heard of.
    package func noteChange(of keys: [String], in domain: String) {
        guard let rule = choice.rule(for: domain) else { return }
        let now = clock()
        for key in keys where rule.covers(key) {
            heard[RoamingKey(domain: domain, name: key)] = now
        }
        changed?.insert(domain)
    }

    /// Changes may have been missed: all domains are looked at, and what could not be exchanged is tried
    /// again.
    package func noteMissedChanges() {
        changed = nil
        lastRetry = nil
    }

    /// Locks or bounds have changed: what could not be stored is tried again.
    package func noteChangedLocks() {
        lastRetry = nil
    }

    /// Other keys roam from now on.
    package func change(to choice: RoamChoice) throws {
        guard choice != self.choice else { return }
        if !isNew {
            var next = replica
            next.revision = 0
            try state.change(from: self.choice, to: choice, next)
            replica = next
        }
        self.choice = choice
        changed = nil
    }

    // MARK: Beginning

    /// Finds out what became of the changes of an interrupted round.
    private func settle() async throws {
        for (token, domain) in try state.begunChanges() {
            var question = DefaultsTransaction()
            question.token = token
            // No domain has this generation, so the change is not made now if it was not made before.
            question.expected[""] = 1 << 62
            do {
                try await defaults.apply(question, in: domain)
                // It may be pending: a power cut would take it back.
                try await defaults.synchronize()
                try await beforeStep("settled")
                try state.end(token, isMade: true)
            } catch let error as DefaultsError where error.code == .conflict {
                try state.end(token, isMade: false)
            }
        }
    }

    /// Tries again what could not be exchanged, such as for lack of room.
    private func retryWhenDue() throws {
        let now = clock()
        if let lastRetry, lastRetry.age(at: now) < Self.retryInterval { return }
        try state.forgetObstacles()
        lastRetry = now
    }

    private func meet() async throws {
        var meeting = try await meetOnce()
        if meeting.state == .mustJoinAnew {
            try joinAnew(as: .new(at: replica.engine))
            meeting = try await meetOnce()
        } else if isNew {
            try joinAnew(as: replica)
        }
        var next = replica
        if meeting.state == .rewound || meeting.revision < replica.revision {
            next.place = meeting.place
            next.shared = min(
                meeting.shared, replica.isDoubtful ? replica.shared : replica.revision)
            next.revision = 0
            next.isDoubtful = true
            try state.doubtBases(next)
            replica = next
        } else if replica.place != meeting.place {
            next.place = meeting.place
            try state.note(next)
            replica = next
        }
    }

    private func joinAnew(as joining: ReplicaRecord) throws {
        try state.joinAnew(joining, choice)
        replica = joining
        isNew = false
        changed = nil
        // What was changed before joining has no time.
        heard = [:]
    }

    private func meetOnce() async throws -> Meeting {
        let lastBatch = replica.nonce.map { (replica.batch, $0, replica.isAnswered) }
        return try await engine.meet(
            replica.id, named: machine, known: replica.place, lastBatch: lastBatch)
    }

    private func scanChanged() async throws {
        let domains: Set<String>
        if let changed {
            domains = changed
        } else {
            domains = try await Set(defaults.domains()).union(state.domains())
        }
        changed = []
        let known = heard
        do {
            for domain in domains.sorted() where !domain.contains("@") { try await scan(domain) }
        } catch {
            changed = changed.map { $0.union(domains) }
            throw error
        }
        // What was heard of meanwhile may belong to the next look.
        for (key, moment) in known where heard[key] == moment { heard[key] = nil }
    }

    // MARK: Pulling

    private func pull() async throws {
        let before = replica.revision
        var hasMore = true
        while hasMore {
            let page = try await engine.pull(after: replica.revision, limit: Self.pageLimit)
            guard !page.versions.contains(where: { $0.key.domain == RoamTerms.sealed }) else {
                throw EngineError.sealed
            }
            try await keep(page.losers)
            try await beforeStep("pulled")
            var next = replica
            next.revision = page.revision
            try state.take(next) { () throws(SQLiteError) in
                for version in page.versions { try receive(version) }
            }
            replica = next
            hasMore = page.hasMore
        }
        if replica.isDoubtful {
            var next = replica
            next.isDoubtful = false
            try state.take(next) { () throws(SQLiteError) in try pushLostBases() }
            replica = next
        }
        if replica.revision != before || !hasReported {
            try await engine.notePulled(upTo: replica.revision)
            hasReported = true
        }
    }

    /// Takes a version of the engine.
    private func receive(_ version: Version) throws(SQLiteError) {
        guard choice.covers(version.key) else { return }
        if let fault = version.fault {
            refusals[version.key] = fault
            return
        }
        refusals[version.key] = nil
        let base = try state.base(of: version.key)
        if let base, base.isDoubtful { return try receive(version, doubting: base) }
        if let known = base?.mark, known.revision >= version.mark.revision { return }
        if try state.edit(of: version.key) == nil,
            (base?.digest ?? .ofNothing) == ValueDigest(of: version.archive)
        {
            return try state.store(version)
        }
        try state.write(Arrival(version: version))
    }

    /// Takes a version of an engine that may have lost later ones.
    private func receive(_ version: Version, doubting doubtful: Base) throws(SQLiteError) {
        var base = doubtful
        base.isDoubtful = false
        let edit = try state.edit(of: version.key)
        let asBase = EditedKey.asBase(base, of: version.key)
        if base.digest == ValueDigest(of: version.archive) {
            (base.mark, base.time) = (version.mark, version.time)
        } else if edit == nil, wasHere(version), version.time <= base.time {
            // What stands here has replaced it knowingly, and the engine is to have it again.
            base.mark = version.mark
            base.isDoubtful = true
            try state.write(asBase)
        } else {
            // The writer of the version may not have known what stands here, and the other way around.
            base.mark = nil
            try state.write(edit ?? asBase)
            try state.write(Arrival(version: version))
        }
        try state.write(base, of: version.key)
    }

    /// Whether a version of an engine that has lost later ones was read from it before.
    private func wasHere(_ version: Version) -> Bool {
        version.mark.revision <= replica.shared || version.replica == replica.id
    }

    /// Pushes again what the engine has lost: removals, too, as another machine may still have the value.
    private func pushLostBases() throws(SQLiteError) {
        for (key, doubtful) in try state.doubtfulBases() {
            if try state.edit(of: key)?.moment == .asBase { continue }
            var base = doubtful
            base.isDoubtful = false
            base.mark = nil
            try state.write(base, of: key)
            if try state.edit(of: key) == nil { try state.write(.asBase(base, of: key)) }
        }
    }

    /// Stores the arrivals for which there is no edit.
    ///
    /// - Returns: How many were stored.
    private func storeArrivals() async throws -> Int {
        var stored = 0
        for attempt in 1...Self.attempts {
            let (count, outdated) = try await storeArrivalsOnce()
            stored += count
            guard !outdated.isEmpty else { break }
            // Somebody changed a key meanwhile: it may be an edit.
            for domain in outdated { try await scan(domain) }
            if attempt == Self.attempts { changed?.formUnion(outdated) }
        }
        return stored
    }
}
