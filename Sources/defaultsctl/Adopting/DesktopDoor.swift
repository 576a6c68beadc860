import DBus
import DefaultsClient
import KeyedArchive

/// A settings service of a desktop whose place defaultsd can take.
enum DoorName: String, CaseIterable {
    /// The settings service of Xfce.
    case xfconf
}

/// The values of a domain that another service has kept.
struct ImportedDomain {
    /// The domain, whose layer for all machines gets the values.
    let name: String
    let entries: [DefaultsEntry]
}

/// What is different for each settings service.
protocol DesktopDoor {
    var name: DoorName { get }
    /// The service that it replaces, for messages.
    var rival: String { get }
    /// The names on the bus that programs call.
    var busNames: [BusName] { get }

    /// The values that the other service has on disk.
    ///
    /// - Throws: `ToolError` if a file cannot be read.
    func read() throws -> [ImportedDomain]

    /// Writes values into the files of the other service.
    ///
    /// - Parameter domains: Everything that the programs have stored by this door.
    /// - Throws: `ToolError` if a file cannot be written.
    func write(_ domains: [ImportedDomain]) throws

    /// Whether programs reach a domain by this door.
    func covers(_ domain: String) -> Bool

    /// Tells the other service a value that was set after ``write(_:)``; nil removes it.
    func pass(_ archive: KeyedArchive?, for key: String, in domain: String, over bus: Connection)
        async throws
}

extension DoorName {
    func door(in places: Places) throws(ToolError) -> any DesktopDoor {
        switch self {
        case .xfconf: try XfconfDoor(in: places)
        }
    }
}
