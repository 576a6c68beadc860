internal import DBus

/// A connection to the bus with a thread of its own, closed with its last reference.
final class KeyringLine: Sendable {
    /// The one lasting reference to the connection.
    ///
    /// It must be released on the loop's thread, before the loop stops, and not when this object ends.
    private let reference: Unmanaged<Connection>
    let loop: EventLoop

    /// Valid as long as this object exists.
    var connection: Connection { reference.takeUnretainedValue() }

    private init(_ connection: Connection, on loop: EventLoop) {
        reference = Unmanaged.passRetained(connection)
        self.loop = loop
    }

    deinit {
        loop.perform { [reference] in
            let connection = reference.takeRetainedValue()
            connection.assumeIsolated { $0.close() }
        }
        loop.stop()
    }

    /// Connects to a bus.
    ///
    /// Connecting blocks the loop, so another clock measures the time. A connection that comes too late
    /// is closed.
    ///
    /// - Throws: `KeyringProblem` if there is no bus, or if it does not accept the connection in time.
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

/// Errors of the Secret Service.
///
/// https://specifications.freedesktop.org/secret-service/latest/errors.html
extension ErrorName {
    static let locked: ErrorName = "org.freedesktop.Secret.Error.IsLocked"
    private static let noSession: ErrorName = "org.freedesktop.Secret.Error.NoSession"
    private static let noSuchObject: ErrorName = "org.freedesktop.Secret.Error.NoSuchObject"
    static let accessDenied: ErrorName = "org.freedesktop.DBus.Error.AccessDenied"

    /// Whether the session, an object, the service or the bus has ended since the last call.
    ///
    /// A new attempt with a new session may succeed.
    var isOfWhatHasGone: Bool {
        switch self {
        case .disconnected, .noReply, .noSession, .noSuchObject, .unknownObject, .unknownMethod,
            .unknownInterface:
            true
        default: false
        }
    }
}
