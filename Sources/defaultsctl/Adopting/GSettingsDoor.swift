import DBus
import DconfFiles
import DefaultsClient
import DefaultsProtocol
@preconcurrency import Glibc
import KeyedArchive
import SystemCalls

/// GTK and GNOME programs: the database of dconf, which the GSettings module replaces.
///
/// A program chooses its backend when it starts. So programs that run keep the old one until they end,
/// and their changes are taken over by the next run of the command.
struct GSettingsDoor: DesktopDoor {
    let name = DoorName.gsettings
    let rival = "dconf"
    let busNames: [BusName] = []
    let writers: [BusName] = ["ca.desrt.dconf"]
    var library: String? { Self.module }
    private static let module = "libgsettingsdefaults.so"
    let rivalLibrary: String? = "libdconfsettings.so"
    /// dconf's file of the user.
    private let database: String
    /// A file in memory whose first byte tells programs to read the database again.
    private let flag: String?
    /// The schemas, for the types of values.
    private let schemas: SchemaIndex

    /// The largest database that is read, in bytes.
    private static let largestDatabase = 256 << 20

    init(in places: Places) throws(ToolError) {
        guard let config = places.config else { throw .noHome }
        database = "\(config)/dconf/user"
        flag = places.runtime.map { "\($0)/dconf/user" }
        schemas = SchemaIndex()
    }

    /// Whether programs can find the module.
    ///
    /// - Throws: `ToolError` if it is where GIO does not look.
    func check() throws {
        let extra = (Places.variable("GIO_EXTRA_MODULES") ?? "").split(separator: ":").map(
            String.init)
        let own = Places.variable("GIO_MODULE_DIR").map { [$0] }
        let libraries = ["/usr/lib", "/usr/lib64", "/lib"].flatMap { directory in
            [directory] + Directory.readableNames(in: directory).map { "\(directory)/\($0)" }
        }
        let all = extra + (own ?? libraries.map { "\($0)/gio/modules" })
        guard all.contains(where: { FileStatus.ifAny("\($0)/\(Self.module)") != nil }) else {
            throw ToolError.noModule(Self.module)
        }
    }

    func covers(_ domain: String) -> Bool {
        domain == SettingsPath.unnamedDomain || schemas.mayHave(domain: domain)
    }

    // MARK: From dconf

    func snapshot() throws -> Snapshot { Snapshot([Self.file: try contents()]) }

    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] {
        try domains(of: snapshot.files[Self.file] ?? [])
    }

    private static let file = "user"

    private func contents() throws -> [UInt8] {
        guard FileStatus.ifAny(database) != nil else { return [] }
        return try InputFile.contents(of: database, limit: Self.largestDatabase)
    }

    private func domains(of bytes: [UInt8]) throws -> [ImportedDomain] {
        guard !bytes.isEmpty else { return [] }
        let values: DconfDatabase
        do throws(GVDBError) {
            values = try DconfDatabase(bytes)
        } catch {
            throw ToolError.input(database, "\(error)")
        }
        if let fault = values.faults.first {
            throw ToolError.input(database, "\(fault.path ?? "An item"): \(fault.error)")
        }
        var domains: [String: [DefaultsEntry]] = [:]
        for entry in values.entries {
            guard let path = SettingsPath(entry.path) else { continue }
            domains[path.domain, default: []].append(
                DefaultsEntry(key: path.key, archive: try archive(of: entry.value, at: path)))
        }
        return domains.sorted { $0.key < $1.key }.map {
            ImportedDomain(name: $0.key, entries: $0.value)
        }
    }

    /// The archive of a value: plain if the schema says its type, so that people see it as they would
    /// write it.
    private func archive(of value: ExactValue, at path: SettingsPath) throws -> KeyedArchive {
        schemas.type(of: path) == value.type
            ? try VariantForm.archive(of: value.form()) : try value.archive()
    }

    // MARK: To dconf

    func write(_ domains: [ImportedDomain]) throws {
        let known = Set(domains.map(\.name))
        let former = try DconfDatabase.entries(of: contents())
        let formerByPath = Dictionary(former.map { ($0.path, $0) }) { first, _ in first }
        var entries = former.filter { entry in
            SettingsPath(entry.path).map { !known.contains($0.domain) } ?? true
        }
        for domain in domains {
            for entry in domain.entries {
                guard let path = SettingsPath(domain: domain.name, key: entry.key) else { continue }
                if let value = try? value(of: entry.archive, at: path) {
                    entries.append(.init(path.path, value))
                } else if let entry = formerByPath[path.path] {
                    // No program of GSettings reads such a value, so the former one is still theirs.
                    entries.append(entry)
                }
            }
        }
        do {
            try AdoptionFiles.write(DconfDatabase(entries: entries).bytes(), to: database)
        } catch let error as GVDBError {
            throw ToolError.input(database, "\(error)")
        }
        tellReaders()
    }

    /// The value with the type of its schema or its marker.
    ///
    /// Without both, it gets the type that most settings have.
    private func value(of archive: KeyedArchive, at path: SettingsPath) throws -> ExactValue? {
        let form = try VariantForm.value(of: archive)
        if let type = schemas.type(of: path), let value = ExactValue(form, as: type) {
            return value
        }
        if case .array = form, let strings = ExactValue(form, as: .array(.string)) {
            return strings
        }
        return ExactValue(form, plainInteger: .int32)
    }

    private func tellReaders() {
        guard let flag, let file = try? File(flag, O_RDWR) else { return }
        try? file.write([1], at: 0)
        unlink(flag)
    }

    func pass(_ changes: [DoorChange], over bus: Connection) async throws {}
}

extension DconfDatabase {
    /// The values of a file; none if there is no file.
    fileprivate static func entries(of bytes: [UInt8]) throws -> [Entry] {
        bytes.isEmpty ? [] : try DconfDatabase(bytes).entries
    }
}
