import DBus
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import SystemCalls

@testable import defaultsctl

/// The settings service of a desktop that does not exist: what the tool's side of a door takes at least.
///
/// Its file has a line for each setting, such as `Color=red`.
struct FakeDesktopDoor: DesktopDoor {
    static let name = "desk"
    static let summary = "a desktop that does not exist"
    let rival = "deskd"
    let busNames: [BusName] = ["org.example.Desk"]
    private let path: String

    private static let domain = "org.example.Desk"
    private static let file = "desk.conf"

    init(in places: Places) throws(ToolError) {
        guard let config = places.config else { throw .noHome }
        path = "\(config)/\(Self.file)"
    }

    func covers(_ domain: String) -> Bool { domain == Self.domain }

    func snapshot() throws -> Snapshot {
        guard FileStatus.ifAny(path) != nil else { return Snapshot() }
        return Snapshot([Self.file: try InputFile.contents(of: path, limit: 1 << 20)])
    }

    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] {
        let text = String(decoding: snapshot.files[Self.file] ?? [], as: UTF8.self)
        let entries = try text.split(separator: "\n").map { line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ToolError.input(path, "It is damaged.") }
            return DefaultsEntry(
                key: parts[0], archive: try VariantForm.archive(of: .string(parts[1])))
        }
        return entries.isEmpty ? [] : [ImportedDomain(name: Self.domain, entries: entries)]
    }

    func write(_ domains: [ImportedDomain]) throws {
        let lines = try domains.flatMap(\.entries).compactMap { entry in
            guard
                case .string(let text) = try VariantForm.value(validating: entry.archive.bytes)
            else { return nil as String? }
            return "\(entry.key)=\(text)\n"
        }
        try AdoptionFiles.write(Array(lines.joined().utf8), to: path)
    }
}
