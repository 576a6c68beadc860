import DBus
import DefaultsClient
import KeyedArchive

/// A settings service of a desktop whose place defaultsd can take.
enum DoorName: String, CaseIterable {
    /// GSettings, with which GTK and GNOME programs keep their settings in dconf.
    case gsettings
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

    /// The names of processes that keep the other service's files in memory, and would write over
    /// ``write(_:)``.
    var writers: [BusName] { get }

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

    /// Tells the other service what was changed after ``write(_:)``.
    func pass(_ changes: [DoorChange], over bus: Connection) async throws

    /// Refuses an adoption that programs would not notice.
    func check() throws

    /// What the mark keeps of the other service's files, to find later changes of them.
    func snapshot() throws -> [UInt8]

    /// The values in a snapshot; nil if it has none.
    func read(snapshot: [UInt8]) throws -> [ImportedDomain]?

    /// The library in programs that use the other service, if they choose when they start.
    var rivalLibrary: String? { get }
    /// The library in programs that use defaultsd.
    var library: String? { get }
}

extension DesktopDoor {
    var rivalLibrary: String? { nil }
    var library: String? { nil }
    var writers: [BusName] { [] }

    func check() throws {}
    func read(snapshot: [UInt8]) throws -> [ImportedDomain]? { nil }

    func snapshot() throws -> [UInt8] {
        Array("defaultsd keeps these values. See 'defaultsctl release'.\n".utf8)
    }
}

/// A change of a value; nil if it was removed.
typealias DoorChange = (domain: String, key: String, archive: KeyedArchive?)

extension DoorName {
    func door(in places: Places) throws(ToolError) -> any DesktopDoor {
        switch self {
        case .gsettings: try GSettingsDoor(in: places)
        case .xfconf: try XfconfDoor(in: places)
        }
    }
}
