import DBus
import DefaultsProtocol
import DefaultsStorage
import Glibc
import SystemCalls

/// The daemon of another session of the user, which has the database.
enum OtherSession {
    /// How long the bus of the other session may take to answer.
    private static let patience = Duration.seconds(3)

    /// A connection to the bus of the daemon that has a database, if that is another bus.
    ///
    /// - Returns: Nil if no daemon is known to have it, or if it cannot be reached.
    static func bus(
        ofDaemonWith location: DatabaseLocation, on loop: EventLoop
    ) async -> Connection? {
        guard let address = address(ofDaemonWith: location), address != Address.ofSessionBus,
            let bus = try? await Connection.open(.address(address), within: patience, on: loop)
        else { return nil }
        if (try? await bus.hasOwner(of: Contract.busName)) == true,
            let path = try? await databasePath(on: bus),
            FileIdentity.areSame(Path.parent(of: path), location.directory)
        {
            return bus
        }
        await bus.close()
        return nil
    }

    private static func databasePath(on bus: Connection) async throws -> String? {
        let reply = try await bus.call(
            Contract.busName, Contract.objectPath, "org.freedesktop.DBus.Properties", "Get",
            [.string(Contract.interface.string), .string(Contract.databasePath.name.string)],
            timeout: patience)
        guard case .variant(.string(let path))? = reply.first else { return nil }
        return path
    }

    /// The address of the bus of the process that has locked the database.
    private static func address(ofDaemonWith location: DatabaseLocation) -> String? {
        guard let line = lines(of: "\(location.directory)/lock", separator: "\n").first else {
            return nil
        }
        let words = line.split(separator: " ")
        guard words.count == 2, String(words[0]) == HostName.current,
            let process = Int32(String(words[1])), process != getpid(),
            lines(of: "/proc/\(process)/comm", separator: "\n").first == "defaultsd"
        else { return nil }
        let variables = lines(of: "/proc/\(process)/environ", separator: "\0")
        func variable(_ name: String) -> String? {
            variables.first { $0.hasPrefix("\(name)=") }
                .map { String($0.dropFirst(name.count + 1)) }
        }
        let named = variable("DBUS_SESSION_BUS_ADDRESS").flatMap { $0.isEmpty ? nil : $0 }
        let address = named ?? variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
        return address.map { Address.withoutIdentifiers($0) }
    }

    /// The parts of a file of this user; none if it cannot be read.
    private static func lines(of path: String, separator: Character) -> [String] {
        guard let file = try? File.regular(path, O_RDONLY | O_NOFOLLOW),
            (try? file.status())?.owner == geteuid(), let bytes = try? file.read(1 << 17, at: 0)
        else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: separator).map(String.init)
    }
}
