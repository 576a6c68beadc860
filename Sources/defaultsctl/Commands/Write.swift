import ArgumentParser
import DefaultsClient
@preconcurrency import Glibc
import KeyedArchive
import PropertyList

struct Write: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stores a value.",
        usage: """
            defaultsctl write [--path <path>] <domain> <key> <value>
            defaultsctl write [--path <path>] <domain> <key> --json <value>
            defaultsctl write <domain> '<property list>'
            """,
        discussion: """
            defaultsctl write org.example.Game PlaySound -bool true
            defaultsctl write org.example.App CurrentUser --json \
            '{"$class":"Account","username":"ada"}'
            defaultsctl write org.example.App CurrentUser --path username -string grace

            A value is -string, -bool[ean] (true, false, yes, no, 1 or 0), -int[eger], -float, -data \
            (hexadecimal digits) or -date ('2024-02-29 14:30:00 +0000', 2024-02-29, now) and a word; \
            or a property list, in the old style or in XML; or -array or -dict (keys and values in \
            turn) and several of these, with -array-add and -dict-add in addition to what is there. A \
            dictionary alone, without a key, becomes the whole domain.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @Argument(help: "The value.")
    var words: [String] = []

    @OptionGroup var part: PathOption

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Any value or object, as JSON.", valueName: "value"))
    var json: String?

    /// Refuses JSON that cannot be stored before the service is asked for anything.
    func validate() throws {
        if json != nil { _ = try archiveOfJSON() }
    }

    /// Refuses words that are no value before the service is asked for anything.
    func check() throws {
        guard json == nil else {
            guard words.isEmpty else { throw ToolError.valueTwice }
            return
        }
        if words.isEmpty {
            guard part.path == nil else { throw ToolError.noValue }
            _ = try domainEntries()
        } else {
            var value = ValueWords(words)
            _ = try value.request()
            for remark in value.remarks { fputs("defaultsctl: \(remark)\n", stderr) }
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        if let archive = try archiveOfJSON() { return try await store(archive, by: defaults) }
        guard !words.isEmpty else {
            let entries = try domainEntries()
            return try await defaults.store(entries, in: domain, removingOthers: true)
        }
        var value = ValueWords(words)
        let request = try value.request()
        if case .value(let value) = request {
            return try await store(value.archive(), by: defaults)
        }
        let part = part.path ?? ValuePath([])
        try await defaults.change(
            key, in: domain,
            orAdd: { archive in
                try .changed(archive, at: part, by: request, key: key)
            })
    }

    /// Stores an archive as the value of the key, or as a part of it.
    private func store(_ archive: KeyedArchive, by defaults: RemoteDefaults) async throws {
        guard let path = part.path else {
            try await defaults.set(archive, forKey: key, in: domain)
            return
        }
        try await defaults.change(key, in: domain) { try $0.setting(path, to: archive) }
    }

    /// The entries of a property list that is the whole domain; its one word stands where a key would.
    private func domainEntries() throws -> [DefaultsEntry] {
        guard let values = try PropertyListEntries(of: BareValue.read(key)) else {
            throw ToolError.repIsNoDictionary
        }
        var entries: [DefaultsEntry] = []
        try values.read { entries.append($0) }
        return entries
    }

    private func archiveOfJSON() throws -> KeyedArchive? {
        guard let json else { return nil }
        do {
            return try KeyedArchive(json: json)
        } catch {
            throw ValidationError("--json: \(error)")
        }
    }
}
