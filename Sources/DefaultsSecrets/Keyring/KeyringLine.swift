internal import DBus

/// A connection to the bus with a thread of its own, closed with its last reference.
final class KeyringLine: Sendable {
    let connection: Connection
    private let loop: EventLoop

    private init(_ connection: Connection, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    deinit {
        // The loop does this before it stops.
        loop.perform { [connection] in connection.assumeIsolated { $0.close() } }
        loop.stop()
    }

    /// Connects to a bus.
    ///
    /// To connect blocks the loop, which therefore cannot measure the time itself. A connection that
    /// comes after the bound is closed.
    ///
    /// - Throws: `KeyringProblem` where there is no bus, or it does not take the connection in time.
    static func open(_ bus: Address, within bound: Duration) async throws -> KeyringLine {
        let (outcomes, report) = AsyncStream.makeStream(
            of: Result<KeyringLine, any Error>.self, bufferingPolicy: .bufferingOldest(1))
        let timer = Task {
            try await Task.sleep(for: bound)
            report.yield(.failure(KeyringProblem.connectionTimedOut(bound)))
        }
        Task {
            do {
                report.yield(.success(try await connect(to: bus)))
            } catch {
                report.yield(.failure(error))
            }
            timer.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        throw CancellationError()
    }

    private static func connect(to bus: Address) async throws -> KeyringLine {
        do {
            let loop = try EventLoop.startThread(named: "secrets-bus")
            do {
                return KeyringLine(try await Connection.open(bus, on: loop), on: loop)
            } catch {
                loop.stop()
                throw error
            }
        } catch let error as DBusError {
            throw KeyringProblem.noBus(error)
        }
    }
}
