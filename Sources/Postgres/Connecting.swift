internal import CPostgres
internal import DBus
internal import Glibc
internal import Synchronization

/// A connection that is being made, on a thread of its own.
///
/// The thread is there because libpq blocks while it resolves names, reads password files and asks a
/// Kerberos server, even in its non-blocking form. It ends when the connection is made or has failed.
final class Connecting: Sendable {
    /// A handle that is passed from one thread to another, which only one of them uses.
    struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private enum State {
        case underWay(CheckedContinuation<Handle, any Error>)
        case givenUp
    }

    private let options: [(String, String)]
    private let state: Mutex<State>

    private init(_ options: ConnectionOptions, _ waiter: CheckedContinuation<Handle, any Error>) {
        self.options = options.values.sorted { $0.key < $1.key }
        state = Mutex(.underWay(waiter))
    }

    /// Connects, and gives up after a time.
    ///
    /// - Throws: ``PostgresError``.
    static func connect(
        _ options: ConnectionOptions, limit: Duration, on loop: EventLoop
    ) async throws -> Handle {
        let alarm = Alarm()
        defer { loop.perform { alarm.cancel() } }
        return try await withCheckedThrowingContinuation { waiter in
            let connecting = Connecting(options, waiter)
            loop.perform {
                alarm.set(on: loop, after: limit) { connecting.giveUp(after: limit) }
            }
            connecting.start()
        }
    }

    /// A timer that is set and cancelled on the loop, in this order, and used nowhere else.
    private final class Alarm: @unchecked Sendable {
        private var timer: EventLoop.Timer?

        func set(on loop: EventLoop, after limit: Duration, _ body: @escaping () -> Void) {
            timer = loop.schedule(after: limit, body)
        }

        func cancel() {
            timer?.cancel()
        }
    }

    private func start() {
        // The thread takes the reference over; if it does not come to be, it is ours again.
        let reference = Unmanaged.passRetained(self)
        var thread = pthread_t()
        // A thread inherits the mask: signals are delivered to the threads that expect them.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<Connecting>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            }, reference.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            reference.release()
            return conclude(
                .failure(
                    PostgresError(.noConnection, "no thread: \(String(cString: strerror(code)))")))
        }
        pthread_detach(thread)
    }

    /// What the thread does.
    private func run() {
        let keywords = options.map { strdup($0.0) } + [nil]
        let values = options.map { strdup($0.1) } + [nil]
        defer { for string in keywords + values { free(string) } }
        let handle = keywords.map { UnsafePointer($0) }.withUnsafeBufferPointer { keywords in
            values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
                PQconnectdbParams(keywords.baseAddress, values.baseAddress, 0)
            }
        }
        guard let handle else {
            return conclude(.failure(PostgresError(.noConnection, "there is not enough memory")))
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            let kind: PostgresError.Kind =
                PQconnectionNeedsPassword(handle) != 0
                ? .noPassword
                : PQconnectionUsedPassword(handle) != 0 ? .refusedPassword : .noConnection
            let message = PostgresError.line(String(cString: PQerrorMessage(handle)))
            PQfinish(handle)
            return conclude(
                .failure(PostgresError(kind, message)))
        }
        conclude(.success(Handle(pointer: handle)))
    }

    private func giveUp(after limit: Duration) {
        conclude(.failure(PostgresError(.noConnection, "there was no answer within \(limit)")))
    }

    /// Answers the one who waits; a connection that comes later is closed.
    private func conclude(_ outcome: Result<Handle, PostgresError>) {
        let waiter = state.withLock { state in
            defer { state = .givenUp }
            if case .underWay(let waiter) = state { return Optional(waiter) }
            return nil
        }
        switch (waiter, outcome) {
        case (let waiter?, .success(let handle)): waiter.resume(returning: handle)
        case (let waiter?, .failure(let error)): waiter.resume(throwing: error)
        case (nil, .success(let handle)): PQfinish(handle.pointer)
        case (nil, .failure): break
        }
    }
}
