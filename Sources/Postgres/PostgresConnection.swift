internal import CPostgres
package import DBus

// Invariants
//
// 1. The handle is in pipeline mode and does not block. Everything that was sent and not answered is in
//    `calls`, in the order of sending.
// 2. Each call ends with a synchronisation, so an error in one does not reach the next.
// 3. A call that the server has not answered within its limit ends the connection. Otherwise its answer
//    would be taken for that of a later one.
// 4. After the end of the connection there is no handle, no watch, no timer and no waiting call.

/// One statement, with its values.
package struct Statement: Sendable {
    /// The text, with `$1`, `$2` and so on for the values.
    package let sql: String
    /// The values.
    package let values: [Parameter]
    /// Whether the server keeps the plan for the next time.
    package let isPrepared: Bool

    package init(_ sql: String, _ values: [Parameter] = [], isPrepared: Bool = false) {
        self.sql = sql
        self.values = values
        self.isPrepared = isPrepared
    }
}

/// One connection to a PostgreSQL server, on a loop.
///
/// ```swift
/// let connection = try await PostgresConnection.open(options, on: loop)
/// let rows = try await connection.run(Statement("SELECT $1 + 1", [.integer(41)]))
/// ```
package actor PostgresConnection {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }
    private nonisolated let loop: EventLoop

    /// The one owner of the C handle; nil after the end.
    private var handle: OpaquePointer?
    private var watch: EventLoop.Watch?
    private var calls: [Call] = []
    /// The prepared statements by their texts.
    private var prepared: [String: String] = [:]
    private var preparations = 0
    private let keepsStatements: Bool
    private var onNotification: (@Sendable () -> Void)?
    private var onEnd: (@Sendable () -> Void)?
    /// Why the connection has ended, which may have been between two calls.
    private var ending = PostgresError(.lost, "the connection was closed")
    /// The number of the server's process.
    package nonisolated let serverProcess: Int32

    /// Statements that were sent together, and what has come back.
    private final class Call {
        /// What the next results are about; the synchronisation is not among them.
        var expected: [Expected]
        var rows: [Rows] = []
        var failure: PostgresError?
        var timer: EventLoop.Timer?
        let waiter: CheckedContinuation<[Rows], any Error>

        init(_ expected: [Expected], _ waiter: CheckedContinuation<[Rows], any Error>) {
            self.expected = expected
            self.waiter = waiter
        }
    }

    private enum Expected {
        case preparation(sql: String)
        case rows
    }

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - options: Where it is, and who asks.
    ///   - keepsStatements: Whether the server may keep plans. They are lost behind a pooler, which gives
    ///     each transaction another session.
    ///   - limit: After how long to give up.
    ///   - loop: The loop.
    /// - Throws: ``PostgresError``.
    package static func open(
        _ options: ConnectionOptions, keepsStatements: Bool = true,
        limit: Duration = .seconds(30), on loop: EventLoop
    ) async throws -> PostgresConnection {
        let handle = try await Connecting.connect(options, limit: limit, on: loop)
        return await PostgresConnection(handle, keepsStatements, on: loop)
    }

    private init(
        _ connected: Connecting.Handle, _ keepsStatements: Bool, on loop: EventLoop
    ) async {
        self.loop = loop
        self.keepsStatements = keepsStatements
        let handle = connected.pointer
        self.handle = handle
        serverProcess = PQbackendPID(handle)
        cpostgres_drop_notices(handle)
        PQsetnonblocking(handle, 1)
        PQenterPipelineMode(handle)
        watch = loop.watch(PQsocket(handle), for: .readable) { [weak self] _ in
            self?.assumeIsolated { $0.receive() }
        }
    }

    isolated deinit {
        watch?.cancel()
        PQfinish(handle)
    }

    /// Whether the connection has not ended, as far as is known.
    package var isOpen: Bool { handle != nil }

    /// Whether the server waits for the end of a transaction.
    package var isInTransaction: Bool {
        guard let handle else { return false }
        return PQtransactionStatus(handle) != PQTRANS_IDLE
    }

    /// Calls a closure at each notification of others, and one at the end of the connection unless it
    /// was closed here.
    ///
    /// Both are called on the loop.
    package func observe(
        onNotification: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        self.onNotification = onNotification
        self.onEnd = onEnd
    }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``.
    @discardableResult
    package func run(
        _ statement: Statement, limit: Duration = .seconds(30)
    ) async throws -> Rows {
        let rows = try await run([statement], limit: limit)
        guard let first = rows.first else {
            throw PostgresError(.unexpected, "the server has sent no result")
        }
        return first
    }

    /// Runs statements in one round trip.
    ///
    /// Outside of a transaction they are one: after a failure nothing of them is kept.
    ///
    /// - Parameter limit: After how long the connection is given up.
    /// - Returns: The rows of each.
    /// - Throws: ``PostgresError``, about the first one that fails; those after it are not run.
    @discardableResult
    package func run(
        _ statements: [Statement], limit: Duration = .seconds(30)
    ) async throws -> [Rows] {
        try await withCheckedThrowingContinuation { waiter in
            guard let handle else {
                return waiter.resume(throwing: ending)
            }
            let call = Call([], waiter)
            calls.append(call)
            var isSent = true
            for statement in statements where isSent {
                isSent = send(statement, of: call, to: handle)
            }
            guard isSent, PQpipelineSync(handle) == 1 else { return end(with: .lost(handle)) }
            call.timer = loop.schedule(after: limit) { [weak self] in
                self?.assumeIsolated {
                    $0.end(
                        with: PostgresError(.lost, "the server did not answer within \(limit)"))
                }
            }
            receive()
        }
    }

    /// Closes the connection.
    package func close() {
        onEnd = nil
        end(with: ending)
    }

    // MARK: Sending

    private func send(_ statement: Statement, of call: Call, to handle: OpaquePointer) -> Bool {
        var name = ""
        let isPrepared = statement.isPrepared && keepsStatements
        if isPrepared {
            if let known = prepared[statement.sql] {
                name = known
            } else {
                preparations += 1
                name = "s\(preparations)"
                prepared[statement.sql] = name
                call.expected.append(.preparation(sql: statement.sql))
                let types = statement.values.map(\.type)
                guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1
                else { return false }
            }
        }
        call.expected.append(.rows)
        return Self.withPointers(to: statement.values) { values, lengths in
            let count = Int32(lengths.count)
            let formats = [Int32](repeating: 1, count: lengths.count)
            if isPrepared {
                return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
            }
            return PQsendQueryParams(
                handle, statement.sql, count, statement.values.map(\.type), values, lengths,
                formats, 1) == 1
        }
    }

    /// The values in the form that libpq takes: one block of memory, and where each begins.
    private static func withPointers<Result>(
        to values: [Parameter],
        _ body: ([UnsafePointer<CChar>?], [Int32]) -> Result
    ) -> Result {
        let lengths = values.map { Int32($0.bytes?.count ?? 0) }
        // One byte more, so that an empty value has an address: it would be NULL otherwise.
        var block: [UInt8] = []
        for value in values { block += value.bytes ?? [] }
        block.append(0)
        return block.withUnsafeBytes { block in
            var offset = 0
            let pointers = zip(values, lengths).map { value, length in
                defer { offset += Int(length) }
                return value.bytes == nil
                    ? nil
                    : block.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return body(pointers, lengths)
        }
    }

    // MARK: Receiving

    /// Reads and writes what there is, as far as it does not block.
    private func receive() {
        guard let handle else { return }
        let isAlive = PQconsumeInput(handle) == 1
        takeResults(from: handle)
        guard self.handle != nil else { return }
        takeNotifications(from: handle)
        guard isAlive else { return end(with: .lost(handle)) }
        switch PQflush(handle) {
        case 0: watch?.events = .readable
        case 1: watch?.events = [.readable, .writable]
        default: end(with: .lost(handle))
        }
    }

    private func takeResults(from handle: OpaquePointer) {
        // The library separates the results of two statements by a missing one.
        var missing = 0
        while let call = calls.first, missing < 3, PQisBusy(handle) == 0 {
            guard let result = PQgetResult(handle) else {
                missing += 1
                continue
            }
            missing = 0
            if PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                PQclear(result)
                calls.removeFirst()
                conclude(call)
            } else {
                take(result, of: call)
            }
        }
        if PQstatus(handle) == CONNECTION_BAD {
            end(with: calls.first?.failure?.asLoss ?? .lost(handle))
        }
    }

    private func take(_ result: OpaquePointer, of call: Call) {
        let rows = Rows(owning: result)
        let expected = call.expected.isEmpty ? nil : call.expected.removeFirst()
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            if case .rows? = expected { call.rows.append(rows) }
        case PGRES_PIPELINE_ABORTED:
            forget(expected)
        default:
            forget(expected)
            call.failure = call.failure ?? PostgresError(of: result)
        }
    }

    /// A statement that could not be prepared is prepared the next time.
    private func forget(_ expected: Expected?) {
        if case .preparation(let sql)? = expected { prepared[sql] = nil }
    }

    private func conclude(_ call: Call) {
        call.timer?.cancel()
        if let failure = call.failure {
            call.waiter.resume(throwing: failure)
        } else {
            call.waiter.resume(returning: call.rows)
        }
    }

    private func takeNotifications(from handle: OpaquePointer) {
        var isNews = false
        while let notification = PQnotifies(handle) {
            // The server sends one's own, too.
            if notification.pointee.be_pid != serverProcess { isNews = true }
            PQfreemem(notification)
        }
        if isNews { onNotification?() }
    }

    // MARK: The end

    private func end(with error: PostgresError) {
        guard let handle else { return }
        ending = error
        self.handle = nil
        watch?.cancel()
        watch = nil
        PQfinish(handle)
        prepared = [:]
        let waiting = calls
        calls = []
        for call in waiting {
            call.timer?.cancel()
            call.waiter.resume(throwing: error)
        }
        let onEnd = onEnd
        self.onEnd = nil
        onNotification = nil
        onEnd?()
    }
}

extension PostgresError {
    /// The same words, for a connection that has ended with them.
    fileprivate var asLoss: PostgresError { PostgresError(.lost, message) }
}
