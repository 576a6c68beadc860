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
    /// - Throws: `KeyringProblem` if there is no bus, or if it does not answer in time.
    static func open(_ bus: Address, within bound: Duration) async throws -> KeyringLine {
        do {
            let loop = try EventLoop.startThread(named: "secrets-bus")
            do {
                let connection = try await Connection.open(bus, within: bound, on: loop)
                return KeyringLine(connection, on: loop)
            } catch {
                loop.stop()
                throw error
            }
        } catch let error as DBusError {
            if error.name == .timeout { throw KeyringProblem.connectionTimedOut(bound) }
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
