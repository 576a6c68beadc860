import DefaultsClient
import DefaultsTerms
import DomainForms
@preconcurrency import Glibc
import KeyedArchive
import SystemCalls
import Wording

/// All domains of the user as files, one for each domain and layer.
///
/// The same values make the same files. A domain is written in JSON if that says all of it, in XML if not (JSON has
/// no objects that several others share), and as a binary list if XML cannot spell it either (such as a key with
/// control characters). The name of a file with the values for this machine has its name.
struct ExportedDirectory {
    private let path: String
    private let hasISODates: Bool

    /// - Parameter hasISODates: Whether dates in JSON are spelled in ISO 8601.
    init(at path: String, hasISODates: Bool) {
        self.path = path
        self.hasISODates = hasISODates
    }

    /// Makes the directory if it does not exist.
    private func make() throws(ToolError) {
        guard mkdir(path, 0o700) != 0 else { return }
        let error = errno
        guard error == EEXIST, FileStatus.ifAny(path)?.kind == .directory else {
            throw .cannotMakeDirectory(path, SystemError.words(for: error))
        }
    }

    /// Writes all domains.
    func write(_ defaults: RemoteDefaults) async throws {
        var written: Set<String> = []
        let domains = try await defaults.domainsOfValues().sorted()
        try make()
        for domain in domains {
            let entries = try await defaults.entries(in: domain).entries.map(Self.spelled)
            guard !entries.isEmpty else { continue }
            let (ending, bytes) = try contents(entries, of: domain)
            let name = "\(HostFileName.title(of: domain)).\(ending)"
            do {
                try OutputFile.write(bytes, to: "\(path)/\(name)")
            } catch {
                throw ToolError.cannotExport(domain, name, because: error.message)
            }
            written.insert(name)
        }
        tellOthers(than: written)
    }

    /// The contents of a file, and how its name ends.
    private func contents(
        _ entries: [DefaultsEntry], of domain: String
    ) throws -> (ending: String, bytes: [UInt8]) {
        let progress = ProgressBar("Exporting \(domain.onOneLine)")
        defer { progress.end() }
        var exported = ExportedDomain(entries, hasISODates: hasISODates, isExact: true, progress)
        if try entries.allSatisfy(Self.isExactInJSON) {
            return ("json", try exported.bytes(as: .json))
        }
        if let xml = try exported.xmlOfAll() { return ("plist", xml) }
        return ("plist", try exported.bytes(as: .binary))
    }

    /// An entry with its key as documents spell it.
    private static func spelled(_ entry: DefaultsEntry) -> DefaultsEntry {
        guard entry.key.hasPrefix("$") else { return entry }
        return DefaultsEntry(key: "$" + entry.key, archive: entry.archive)
    }

    /// Whether a value in JSON reads back as the same.
    private static func isExactInJSON(_ entry: DefaultsEntry) throws -> Bool {
        guard let json = try? entry.archive.json(), let read = try? KeyedArchive(json: json) else {
            return false
        }
        return read.withDateObjects().isSame(as: entry.archive)
    }

    /// Names files of domains that have no keys any more: an `apply` of the directory would set them.
    private func tellOthers(than written: Set<String>) {
        let others = ((try? Directory.names(in: path)) ?? []).sorted().filter {
            ($0.hasSuffix(".json") || $0.hasSuffix(".plist")) && !$0.hasPrefix(".")
                && !written.contains($0) && !HostFileName.isOfOther($0)
        }
        guard let first = others.first else { return }
        let more = others.count > 1 ? " and \(counted(others.count - 1, "other file"))" : ""
        Complaint.say(
            "\(first.fileTitle)\(more) in \(path.fileTitle) \(agreeing(others.count, "is", "are")) not of "
                + "this export. Remove what is not wanted: 'apply' of the directory reads it, too.")
    }
}
