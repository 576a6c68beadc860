import ArgumentParser
import DefaultsClient
import DomainForms
import KeyedArchive
import PropertyList
import ValuePaths
import Wording

struct Write: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Stores a value.",
        usage: """
            defaultsctl write [--path <path>] <domain> <key> <value>
            defaultsctl write [--path <path>] <domain> <key> --json <value>
            defaultsctl write [--path <path>] <domain> <key> --archive <file>
            defaultsctl write <domain> '<property list>'
            """,
        discussion: """
              defaultsctl write org.example.Game PlaySound -bool true
              defaultsctl write org.example.App User --json '{"$class":"User","name":"a"}'
              defaultsctl write org.example.App User --path name -string b

            A value is one of the following: -string, -bool[ean] (true, false, yes, no, 1 or 0), \
            -int[eger], -float, -data (hexadecimal digits) or -date ('2024-02-29 14:30:00 +0000', \
            2024-02-29, now, yesterday, "$(date)"), and a word; a property list in the old style or in XML; -array or \
            -dict (keys and values in turn), and several values. -array-add and -dict-add add to \
            an existing value. A word after a type is a value, whatever it begins with, and these \
            four take all words. A dictionary without a key becomes the whole domain. A word without \
            a type is a string, unless a GSettings schema gives the key another type.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @Argument(
        help: ArgumentHelp("The value, with or without a flag for its type.", valueName: "value"))
    var words: [String] = []

    @OptionGroup var part: PathOption

    @OptionGroup var expectation: ExpectationOption

    @OptionGroup var change: ChangeOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Any value or object, as JSON.", valueName: "value"))
    var json: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "A file with a keyed archive, binary or XML, to store unchanged; - is standard input.",
            valueName: "file"))
    var archive: String?

    @OptionGroup var host: HostOption

    /// Refuses JSON that cannot be stored, before anything is asked of the service.
    func validate() throws {
        if json != nil { _ = try archiveOfJSON() }
    }

    /// Refuses words that are not a value, before anything is asked of the service.
    func check() throws {
        guard json == nil, archive == nil else {
            guard words.isEmpty, json == nil || archive == nil else {
                throw ToolError.valueTwice(archive == nil ? "--json" : "--archive")
            }
            return
        }
        if words.isEmpty {
            guard part.path == nil, BareValue.isList(key) else { throw ToolError.noValue }
            _ = try domainEntries()
        } else {
            var value = ValueWords(words)
            _ = try value.request()
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        if json == nil, archive == nil, words.isEmpty {
            let entries = try domainEntries()
            // macOS's tool says nothing of what it has cost.
            let before =
                ProgramName.current == .defaultsctl ? Set(try await defaults.keys(in: domain)) : []
            let isChanged = try await defaults.store(
                entries, in: domain, removingOthers: true, comparing: change.changed)
            Self.remark(on: entries, replacing: before, of: domain)
            UnknownKeys.remark(on: entries.map(\.key), in: domain)
            return try await change.finish(isChanged, on: defaults)
        }
        var edits = DomainEdits(of: domain)
        edits.isDurable = change.wait
        try edits.add(edit(), of: key, ifStillAt: expectation.ifGeneration)
        let isChanged = try await edits.apply(to: defaults, comparing: change.changed)
        UnknownKeys.remark(on: [key], in: domain)
        try await change.report(isChanged, on: defaults)
    }

    /// Says what a dictionary that has become the whole domain has cost.
    private static func remark(
        on entries: [DefaultsEntry], replacing before: Set<String>, of domain: String
    ) {
        guard !before.isEmpty else { return }
        let replaced = before.intersection(entries.map(\.key)).count
        Complaint.say(
            "The dictionary is now the whole domain \(domain.domainTitle.onOneLine): "
                + "\(counted(replaced, "key", verb: "was", "were")) replaced, and "
                + "\(before.count - replaced) removed.")
    }

    /// The edit of the key's value.
    private func edit() throws -> Edit {
        if let archive = try archiveOfJSON() { return try setting(archive) }
        if let archive { return try setting(InspectedArchive(contentsOf: archive).archive) }
        return try Self.edit(of: key, in: domain, to: words, at: part.path)
    }

    /// The edit that sets a value whose type the user has given.
    private func setting(_ archive: KeyedArchive) throws -> Edit {
        if part.path == nil { Self.remark(on: archive, for: SchemaDemand(of: key, in: domain)) }
        return .setting(part.path, to: archive)
    }

    private static func remark(on archive: KeyedArchive, for schema: SchemaDemand?) {
        if let remark = schema?.remark(on: archive) { Complaint.say(remark) }
    }

    /// The edit of a key's value, or of a part of it, that the words of a value mean.
    static func edit(
        of key: String, in domain: String, to words: [String], at path: ValuePath?
    ) throws -> Edit {
        var value = ValueWords(words)
        let request = try value.request()
        for remark in value.remarks { Complaint.say(remark) }
        if case .value(let value) = request {
            let archive = try value.archive()
            let schema = path == nil ? SchemaDemand(of: key, in: domain) : nil
            if !value.isBare { remark(on: archive, for: schema) }
            return .setting(path, to: archive, isBare: value.isBare, for: schema)
        }
        return .change { archive in
            guard let archive else {
                return try .changed(nil, at: path ?? ValuePath([]), by: request, key: key)
            }
            return try archive.changingShown {
                try .changed($0, at: path ?? ValuePath([]), by: request, key: key)
            }
        }
    }

    /// The entries of a property list that is the whole domain.
    ///
    /// Its one word is in the position of the key.
    private func domainEntries() throws -> [DefaultsEntry] {
        guard let values = try PropertyListEntries(of: BareValue.read(key, isDomain: true)) else {
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

extension Write: ArrangedVerb {
    static var makesDomains: Bool { true }
    static var takesValue: Bool { true }
    static var optionsWithValue: Set<String> {
        ["--path", "--json", "--archive", "--if-generation"]
    }
    static var allOptions: Set<String>? { options }

    private static let options = optionsWithValue.union([
        "--wait", "--changed", "--current-host", "--host", "--help", "--version",
        "--generate-completion-script",
    ])
}

extension Write: EditingCommand {
    func addEdits(to document: inout ChangeDocument) throws {
        try check()
        guard json != nil || archive != nil || !words.isEmpty else {
            throw ToolError.domainInDocument
        }
        guard archive != "-" else { throw ToolError.inputInDocument }
        try change.refuseInDocument()
        try document.add(edit(), of: key, in: domain, ifStillAt: expectation.ifGeneration)
    }
}
