import DBus
import DefaultsClient
import RoamingTerms

/// The calls of the roaming service.
struct RoamingService {
    private let connection: Connection

    init(on connection: Connection) {
        self.connection = connection
    }

    /// A machine that roams.
    struct Machine {
        let id: String
        let name: String
        /// In seconds since 1970; 0 if that is not known.
        let seen: UInt64
        let isThis: Bool
    }

    /// The state: names with values.
    func status() async throws -> [String: Value] {
        guard case .dictionary(_, _, let entries) = try await call(RoamContract.getStatus).first
        else {
            return [:]
        }
        var facts: [String: Value] = [:]
        for entry in entries {
            if case .string(let name) = entry.key, case .variant(let value) = entry.value {
                facts[name] = value
            }
        }
        return facts
    }

    /// Makes a round, and waits for its end.
    func roamNow() async throws {
        // As long as the first round of many keys may take on a slow line.
        _ = try await call(RoamContract.roamNow, timeout: .seconds(600))
    }

    /// Finds the key of an encrypted place, and makes a round.
    ///
    /// - Parameter mayMakeKey: Whether to make a key if the place has none.
    /// - Returns: False if the place has none, and none was to be made.
    func encrypt(_ passphrase: String, mayMakeKey: Bool) async throws -> Bool {
        do {
            _ = try await call(
                RoamContract.encrypt, [.string(passphrase), .boolean(mayMakeKey)],
                timeout: .seconds(600))
            return true
        } catch let error as DBusError where error.name == RoamContract.noKey {
            return false
        }
    }

    /// Wraps the key of an encrypted place by another passphrase, and makes a round.
    func changePassphrase(to passphrase: String) async throws {
        _ = try await call(
            RoamContract.changePassphrase, [.string(passphrase)], timeout: .seconds(600))
    }

    func machines() async throws -> [Machine] {
        guard case .array(_, let elements) = try await call(RoamContract.listMachines).first else {
            return []
        }
        return elements.compactMap { element in
            guard case .structure(let fields) = element, fields.count == 4,
                case .string(let id) = fields[0], case .string(let name) = fields[1],
                case .int64(let seen) = fields[2], case .boolean(let isThis) = fields[3]
            else { return nil }
            return Machine(id: id, name: name, seen: UInt64(clamping: seen), isThis: isThis)
        }
    }

    func forget(_ id: String) async throws {
        _ = try await call(RoamContract.forgetMachine, [.string(id)])
    }

    private func call(
        _ member: MemberName, _ arguments: [Value] = [], timeout: Duration = .seconds(60)
    ) async throws -> [Value] {
        // Only enabling starts it: a question must not.
        guard try await connection.hasOwner(of: RoamContract.busName) else {
            throw ToolError.noRoamingService
        }
        do {
            return try await connection.call(
                RoamContract.busName, RoamContract.path, RoamContract.interface, member, arguments,
                timeout: timeout)
        } catch let error as DBusError where Self.absent.contains(error.name) {
            throw ToolError.noRoamingService
        }
    }

    private static let absent: Set<ErrorName> = [
        .serviceUnknown, .nameHasNoOwner, .disconnected, .noReply,
        "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.systemd1.NoSuchUnit",
    ]
}
