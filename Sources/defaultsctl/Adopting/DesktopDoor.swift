import DBus
import PropertyList
import ValuePaths
import DefaultsClient
import KeyedArchive

/// The settings services of desktops whose place defaultsd can take.
enum DesktopDoors {
    /// All that this program has; a test has others.
    @TaskLocal static var all: [any DesktopDoor.Type] = [
        GSettingsDoor.self, XfconfDoor.self, DconfDoor.self, PortalDoor.self,
    ]

    /// The words for them.
    static var names: [String] { all.map { $0.name } }

    /// What each is for, as one sentence's parts.
    static var summaries: String {
        let parts = all.map { "\($0.name) is for \($0.summary)" }
        return parts.dropLast().joined(separator: ", ") + ", and " + (parts.last ?? "")
    }
}

/// The values of a domain that another service has kept.
struct ImportedDomain {
    /// The domain, whose layer for all machines gets the values.
    let name: String
    let entries: [DefaultsEntry]
}

/// A settings service of a desktop whose place defaultsd can take, and what is different for each.
protocol DesktopDoor: SendableMetatype {
    /// The word for it, and the name of the file that says that the user has adopted it.
    static var name: String { get }

    /// Whose programs it is for, for the help.
    static var summary: String { get }

    /// Finds its files.
    init(in places: Places) throws(ToolError)

    /// The service that it replaces, for messages.
    var rival: String { get }
    /// The names on the bus that programs call.
    var busNames: [BusName] { get }

    /// The names of processes that keep the other service's files in memory, and would write over
    /// ``write(_:)``.
    var writers: [BusName] { get }

    /// Whether the daemon writes the files of the other service while the door is adopted, so that
    /// programs see in them what the database has.
    var showsDatabase: Bool { get }

    /// Whether the files show what the database has, and nobody else has written them since.
    var isView: Bool { get }

    /// The only file of a snapshot that several doors share; nil if no other door has the files.
    var sharedImport: String? { get }

    /// The files of the other service as they are now.
    ///
    /// - Throws: `ToolError` if a file cannot be read.
    func snapshot() throws -> Snapshot

    /// The values in a snapshot.
    ///
    /// - Throws: `ToolError` if a file is damaged.
    func read(_ snapshot: Snapshot) throws -> [ImportedDomain]

    /// Writes values into the files of the other service.
    ///
    /// - Parameter domains: Everything that the programs have stored by this door.
    /// - Throws: `ToolError` if a file cannot be written.
    func write(_ domains: [ImportedDomain]) throws

    /// The files as ``write(_:)`` would make them, if nobody else writes them meanwhile; otherwise nil.
    func prospect(of domains: [ImportedDomain]) throws -> Snapshot?

    /// Whether programs reach a domain by this door.
    func covers(_ domain: String) -> Bool

    /// Tells the other service what was changed after ``write(_:)``.
    func pass(_ changes: [DoorChange], over bus: Connection) async throws

    /// Refuses an adoption that programs would not notice.
    func check() throws

    /// The library in programs that use the other service, if they choose when they start.
    var rivalLibrary: String? { get }
    /// The library in programs that use defaultsd.
    var library: String? { get }

    /// Whether the other service has values to import, and gets them back.
    var hasValues: Bool { get }

    /// Files of the user's that name the service that programs use, which ``enter()`` writes.
    ///
    /// The user may have written them, too.
    var entryFiles: [String] { get }
    /// Whether these files name defaultsd.
    var isEntered: Bool { get }
    /// Names defaultsd in these files.
    func enter() throws
    /// Takes it back.
    func leave() throws

    /// What the user has to do so that programs that run notice; nil if there is nothing.
    func advice(isAdopted: Bool, over bus: Connection) async -> String?
}

extension DesktopDoor {
    var name: String { Self.name }
    var rivalLibrary: String? { nil }
    var library: String? { nil }
    var writers: [BusName] { [] }
    var hasValues: Bool { true }
    var entryFiles: [String] { [] }
    var isEntered: Bool { true }
    var showsDatabase: Bool { false }
    var isView: Bool { false }
    var sharedImport: String? { nil }

    func check() throws {}
    func enter() throws {}
    func leave() throws {}
    func advice(isAdopted: Bool, over bus: Connection) async -> String? { nil }
    func pass(_ changes: [DoorChange], over bus: Connection) async throws {}
    func prospect(of domains: [ImportedDomain]) throws -> Snapshot? { nil }

    /// Writes changes over what the files have.
    func write(_ changes: [DoorChange], over domains: [ImportedDomain]) throws {
        var values: [String: [String: KeyedArchive]] = [:]
        for domain in domains {
            for entry in domain.entries {
                values[domain.name, default: [:]][entry.key] = entry.archive
            }
        }
        for change in changes { values[change.domain, default: [:]][change.key] = change.archive }
        try write(
            values.map { name, entries in
                ImportedDomain(
                    name: name, entries: entries.map { DefaultsEntry(key: $0, archive: $1) })
            })
    }
}

/// The contents of files of another service, by their names.
struct Snapshot {
    var files: [String: [UInt8]] = [:]

    /// The files as a keyed archive: a dictionary of data.
    var archive: KeyedArchive {
        get throws {
            let files = files.sorted { $0.key < $1.key }
            var builder = ValueFormBuilder()
            try builder.dictionary(keys: files.map { Text($0.key) }) { position, builder in
                try builder.data(files[position].value[...])
            }
            return builder.finish()
        }
    }

    init(_ files: [String: [UInt8]] = [:]) {
        self.files = files
    }

    /// Reads an archive.
    ///
    /// - Throws: The reason why it is none of a snapshot.
    init(archive bytes: [UInt8]) throws {
        let archive = try KeyedArchive(validating: bytes)
        var names = MemberNames()
        try archive.render(into: &names)
        for name in names.names {
            let file = try archive.value(at: ValuePath([.name(Text(name))]))
            guard case .data(let contents) = try RawValue.content(of: file) else {
                throw RefusedValue()
            }
            files[name] = contents
        }
    }
}

/// A change of a value: before and after; nil if there is none.
typealias DoorChange = (
    domain: String, key: String, before: KeyedArchive?, archive: KeyedArchive?
)
