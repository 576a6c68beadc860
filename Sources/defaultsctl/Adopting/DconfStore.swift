import DBus
import DconfFiles
import DefaultsClient
import DefaultsDconf
import DefaultsProtocol
@preconcurrency import Glibc
import KeyedArchive
import SystemCalls

/// dconf's file of the user, which two doors share.
struct DconfStore {
    /// The name of dconf's service.
    static let service = Dconf.busName
    /// The file in a snapshot.
    static let file = "user"

    private let database: String
    /// A file in memory whose first byte tells programs to read the database again.
    private let flag: String?
    /// The schemas, for the types of values.
    let schemas = SchemaIndex { SchemaCatalog.ofThisProcess() }

    /// The largest database that is read, in bytes.
    private static let largestDatabase = 256 << 20

    init(in places: Places) throws(ToolError) {
        guard let config = places.config else { throw .noHome }
        database = "\(config)/dconf/\(Self.file)"
        flag = places.runtime.map { "\($0)/dconf/\(Self.file)" }
    }

    // MARK: From dconf

    /// The file as it is now; empty if there is none.
    func snapshot() throws -> Snapshot { Snapshot([Self.file: try contents()]) }

    /// Whether the daemon has written the file, so that it only shows what is in the database.
    var isView: Bool { image?.isView == true }

    /// Whether there is no file, or an empty one.
    var isMissing: Bool { (try? contents())?.isEmpty ?? false }

    /// The domains of the values in the file.
    var domains: Set<String> {
        Set(image?.paths.compactMap { SettingsPath($0)?.domain } ?? [])
    }

    private var image: DconfImage? {
        (try? contents()).flatMap { $0.isEmpty ? nil : try? DconfImage($0) }
    }

    private func contents() throws -> [UInt8] {
        guard FileStatus.ifAny(database) != nil else { return [] }
        return try InputFile.contents(of: database, limit: Self.largestDatabase)
    }

    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] {
        let bytes = snapshot.files[Self.file] ?? []
        guard !bytes.isEmpty else { return [] }
        let values: DconfDatabase
        do throws(GVDBError) {
            values = try DconfDatabase(bytes)
        } catch {
            throw ToolError.input(database, "\(error)")
        }
        // A former file is not complained about: nobody can mend it.
        if let fault = values.faults.first, try bytes == contents() {
            throw ToolError.input(database, "\(fault.path ?? "An item"): \(fault.error)")
        }
        var domains: [String: [DefaultsEntry]] = [:]
        for entry in values.entries {
            guard let path = SettingsPath(entry.path) else { continue }
            domains[path.domain, default: []].append(
                DefaultsEntry(
                    key: path.key, archive: try schemas.archive(of: entry.value, at: path)))
        }
        return domains.sorted { $0.key < $1.key }.map {
            ImportedDomain(name: $0.key, entries: $0.value)
        }
    }

    // MARK: To dconf

    func write(_ domains: [ImportedDomain]) throws {
        try AdoptionFiles.write(bytes(with: domains), to: database)
        tellReaders()
    }

    /// The file with these domains, and with all others that it has now.
    func bytes(with domains: [ImportedDomain]) throws -> [UInt8] {
        let known = Set(domains.map(\.name))
        let former = try DconfDatabase.entries(of: contents())
        let formerByPath = Dictionary(former.map { ($0.path, $0) }) { first, _ in first }
        var entries = former.filter { entry in
            SettingsPath(entry.path).map { !known.contains($0.domain) } ?? true
        }
        for domain in domains {
            for entry in domain.entries {
                guard let path = SettingsPath(domain: domain.name, key: entry.key) else { continue }
                if let value = try? schemas.value(of: entry.archive, at: path) {
                    entries.append(.init(path.path, value))
                } else if let entry = formerByPath[path.path] {
                    // No program of GSettings reads such a value, so the former one is still theirs.
                    entries.append(entry)
                }
            }
        }
        do throws(GVDBError) {
            return try DconfDatabase(entries: entries).bytes()
        } catch {
            throw ToolError.input(database, "\(error)")
        }
    }

    private func tellReaders() {
        guard let flag, let file = try? File(flag, O_RDWR) else { return }
        try? file.write([1], at: 0)
        unlink(flag)
    }
}

extension DconfDatabase {
    /// The values of a file; none if there is no file.
    fileprivate static func entries(of bytes: [UInt8]) throws -> [Entry] {
        bytes.isEmpty ? [] : try DconfDatabase(bytes).entries
    }
}
