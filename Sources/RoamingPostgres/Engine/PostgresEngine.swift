package import DBus
package import DefaultsRoaming
internal import Postgres
internal import Synchronization

/// The engine whose meeting place is a PostgreSQL server.
///
/// The server holds one account for each user, and shows a user nothing of the others. All statements
/// name the owner besides, so that an administrator who roams does not read everybody's rows.
package actor PostgresEngine: Engine {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop
    private let address: ServerAddress
    let statements: Statements
    /// Whether the session is this engine's own; a pooler gives each transaction another one.
    private let hasSession: Bool
    /// After how long a call gives up.
    var limit: Duration

    private var connection: PostgresConnection?
    private(set) var news: (@Sendable () -> Void)?
    private var isListening = false
    private nonisolated let interval = Mutex(PostgresEngine.slowPoll)
    /// What was found out at the meeting of this round.
    var session: Session?
    /// What is to be told to the server at the next meeting.
    private var pulled: UInt64 = 0

    /// What is known since the last meeting.
    struct Session {
        let replica: ReplicaID
        /// The revision up to which this replica may read (invariant 2 of ``Visit``).
        var readable: UInt64
        /// Whether there are losers for this replica.
        var hasLosers: Bool
        let account: AccountRow
    }

    /// How often an engine that hears of news looks for it besides.
    private static let slowPoll = Duration.seconds(300)
    /// How old what the server knows of the last time of a replica may become.
    private static let seenInterval: Int64 = 3_600_000_000

    /// Makes an engine, which connects when it is first asked.
    ///
    /// - Parameters:
    ///   - address: The server, or a pooler before it.
    ///   - token: Who asks, if a pooler shares sessions among users.
    ///   - limit: After how long a call gives up.
    ///   - loop: The loop on which it is called.
    package init(
        at address: ServerAddress, token: PoolToken? = nil, limit: Duration = .seconds(30),
        on loop: EventLoop
    ) {
        self.address = address
        statements = Statements(token: token)
        hasSession = token == nil
        self.limit = limit
        self.loop = loop
    }

    // MARK: Meeting

    package func meet(
        _ replica: ReplicaID, named name: String, known: [UInt8]?,
        lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    ) async throws -> Meeting {
        session = nil
        return try await translatingErrors {
            let connection = try await connected()
            var (account, row) = try await read(replica, from: connection)
            if try await listen(as: account, on: connection) {
                // News from before were not heard of.
                (account, row) = try await read(replica, from: connection)
            }
            let encounter = Encounter(
                known: known, lastBatch: lastBatch, row: row?.visits, account: account.channel,
                purged: account.purged, dropped: account.dropped)
            let state = encounter.state
            // It was pulled by a replica of another name, or from a server that knew more.
            if state != .continued { pulled = 0 }
            if state == .mustJoinAnew {
                try await run([statements.orphanLosers(of: replica)], on: connection)
                return Meeting(state: state, place: known ?? [], revision: account.revision)
            }
            let next = encounter.next(state, at: account.revision)
            try await write(next, of: replica, named: name, over: row, account, to: connection)
            session = Session(
                replica: replica, readable: account.revision, hasLosers: account.hasLosers,
                account: account)
            return Meeting(
                state: state, place: encounter.nextPlace(state, next).bytes,
                revision: account.revision, shared: encounter.shared)
        }
    }

    private func connected() async throws -> PostgresConnection {
        if let connection, await connection.isOpen { return connection }
        connection = nil
        isListening = false
        let opened = try await PostgresConnection.open(
            address.options, keepsStatements: hasSession, limit: limit, on: loop)
        try await Schema.requireCurrent(on: opened, limit: limit)
        if hasSession { try await opened.run(Statements.plannerSetting, limit: limit) }
        // Twice at a time it may have happened in the meantime: the first one is closed.
        await connection?.close()
        connection = opened
        return opened
    }

    private func read(
        _ replica: ReplicaID, from connection: PostgresConnection
    ) async throws -> (AccountRow, StoredReplica?) {
        let results = try await run([statements.meeting(of: replica)], on: connection)
        guard let rows = results.first, rows.count == 1 else { throw EngineError.noAccount }
        let account = try AccountRow(rows)
        interval.withLock { $0 = account.pollInterval ?? Self.slowPoll }
        guard !account.isReadOnly else { throw EngineError.standby }
        return (account, try StoredReplica(rows))
    }

    /// Writes what the server is to remember, if it is not what it remembers already.
    private func write(
        _ next: ReplicaRow, of replica: ReplicaID, named name: String, over row: StoredReplica?,
        _ account: AccountRow, to connection: PostgresConnection
    ) async throws {
        // A time of the future comes from a client of another kind.
        let age = row.map { account.now.subtractingSaturated($0.seen ?? 0) }
        let isSeenLate = age.map { !(0...Self.seenInterval).contains($0) } ?? true
        let hasPulled = pulled > next.pulled && pulled <= account.revision
        guard next != row?.visits || isSeenLate || hasPulled || row?.name != name else { return }
        var next = next
        if hasPulled { next.pulled = pulled }
        // A new machine may need the room of those that are gone. Any other one must have told first that
        // it is here.
        if row == nil { try await run([Statements.purge], on: connection) }
        var writing = [
            statements.write(next, of: replica, named: name, over: row?.visits.visit)
        ]
        if isSeenLate, row != nil { writing.append(Statements.purge) }
        let results = try await run(writing, on: connection)
        guard results.first?.changed == 1 else {
            throw EngineError(
                .unreachable,
                "another process has met the server under the name of this replica at the same "
                    + "time; the next exchange decides which one joins as new")
        }
    }

    package func notePulled(upTo revision: UInt64) {
        // It is only needed when removals are forgotten, so it can wait.
        pulled = revision
    }

    // MARK: News

    package nonisolated var pollInterval: Duration? { interval.withLock { $0 } }

    package func onNews(_ body: @escaping @Sendable () -> Void) async throws {
        news = body
        guard let connection, let account = session?.account else { return }
        try await translatingErrors {
            // News from before were not heard of.
            if try await listen(as: account, on: connection) { body() }
        }
    }

    /// Listens for changes of the account, if the server is set up so.
    ///
    /// - Returns: Whether it has just begun.
    private func listen(as account: AccountRow, on connection: PostgresConnection) async throws
        -> Bool
    {
        guard hasSession, let news, account.pollInterval == nil, !isListening else { return false }
        await connection.observe(onNotification: news, onEnd: news)
        try await connection.run(
            Statement("LISTEN \"\(account.channelName)\""), limit: limit)
        isListening = true
        return true
    }

    // MARK: Machines

    package func machines() async throws -> [Machine] {
        try await ask(statements.machines) { rows in
            try (0..<rows.count).map { row in
                Machine(
                    id: try rows.replica(row, 0), name: try rows.text(row, 1),
                    seen: try rows.knownTime(row, 2))
            }
        }
    }

    package func forget(_ replica: ReplicaID) async throws {
        try await translatingErrors {
            let forgetting = [statements.forget(replica), statements.orphanLosers(of: replica)]
            try await run(forgetting, on: open())
        }
    }

    package func noteKept(_ losers: [Loser]) async throws {
        guard !losers.isEmpty else { return }
        try await ask(statements.deleteLosers(losers)) { _ in }
    }

    package func close() async {
        news = nil
        session = nil
        let closing = connection
        connection = nil
        await closing?.close()
    }

    // MARK: Asking

    /// The connection of this round; after a loss, a round begins again.
    func open() async throws -> PostgresConnection {
        guard let connection, await connection.isOpen else {
            throw PostgresError(.noConnection, "there is no connection now")
        }
        return connection
    }

    func ask<Value: Sendable>(
        _ statement: Statement, _ read: (Rows) throws -> Value
    ) async throws -> Value {
        try await translatingErrors {
            guard let rows = try await run([statement], on: open()).first else {
                throw EngineError.damaged("it has sent no result")
            }
            return try read(rows)
        }
    }

    /// Runs statements as one transaction of the user.
    ///
    /// - Returns: The rows of each.
    @discardableResult
    func run(
        _ body: [Statement], on connection: PostgresConnection
    ) async throws -> ArraySlice<Rows> {
        try await connection.run(statements.beginning + body, limit: limit).suffix(body.count)
    }

    /// Runs something, and says what its failure means for roaming.
    func translatingErrors<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value
    {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw EngineError(error, at: address)
        }
    }
}
