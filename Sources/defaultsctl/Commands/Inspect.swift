import ArchiveInspection
import ArgumentParser
import DefaultsClient
import KeyedArchive
import ValuePaths
import XMLPropertyList

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows a keyed archive: a file, or the value of a key.",
        usage: """
            defaultsctl inspect [<form>] <file>
            defaultsctl inspect [<form>] <domain> <key>
            """,
        discussion: """
            Files are property lists, binary or in XML; - is standard input. Without a form, the \
            archive is shown as a tree. Each object is shown once, with its number (#7) if several \
            places refer to it.
            """)

    @Argument(help: "The file, or - for standard input; with a key, the domain.")
    var source: String

    @Argument(help: "The key, to inspect its value in the database.")
    var key: String?

    @OptionGroup var part: PathOption

    @Flag(help: "How to show the archive.")
    var form: InspectionForm = .tree

    @Flag(help: "Also open keyed archives inside data, in the tree and in JSON.")
    var nested = false

    @Flag(help: "With --json: print each element on its own line.")
    var pretty = false

    @OptionGroup var dates: DatesOption

    @Option(help: "Colours: auto, always or never.")
    var color: ColorChoice = .auto

    @OptionGroup var host: HostOption

    func validate() throws {
        if nested, form != .tree, form != .json {
            throw ValidationError("--nested is only for the tree and for --json.")
        }
        if pretty, form != .json { throw ValidationError("--pretty is only for --json.") }
        try dates.validate(isJSON: form == .json)
        if form == .binary, Defaultsctl.console.isTerminal(.output) {
            throw ValidationError("--binary is not for a terminal. Redirect the output to a file.")
        }
    }

    func run() async throws {
        try await reportingFailure {
            let archive = try await inspectedArchive()
            if let path = part.path { return try show(archive.archive.value(at: path)) }
            do {
                try show(archive.archive)
            } catch {
                throw archive.failure(of: error)
            }
        }
    }

    /// Reads what is to be shown.
    ///
    /// Only the value of a key needs the service.
    private func inspectedArchive() async throws -> InspectedArchive {
        guard let key else { return try InspectedArchive(contentsOf: source) }
        let archive = try await ServiceSession.run {
            try await $0.archive(forKey: key, in: source).archive
        }
        return InspectedArchive(archive, name: "\(source) \(key)")
    }

    private func show(_ archive: KeyedArchive) throws {
        let terminal = Terminal(color: color)
        var options = terminal.options
        options.opensArchives = nested
        switch form {
        case .tree:
            try terminal.print(ArchiveTree(of: archive, options: options))
        case .raw:
            try terminal.print(ArchiveTree.objectTable(of: archive, options: options))
        case .classes:
            try terminal.print(ClassListing(of: archive, options: options))
        case .json:
            var json = try archive.json(
                isPretty: pretty, opensArchives: nested, hasISODates: dates.isoDates)
            json.append(UInt8(ascii: "\n"))
            try SafeOutput.write(json: json)
        case .xml:
            try SafeOutput.write(archive.xml())
        case .binary:
            try StandardOutput.write(archive.bytes)
            try StandardOutput.flush()
        }
    }
}

extension Inspect: ArrangedVerb {
    static var takesFile: Bool { true }
    static var optionsWithValue: Set<String> { ["--path", "--color"] }
}

/// The form in which `inspect` shows an archive.
///
/// At most one is given.
enum InspectionForm: EnumerableFlag {
    case tree, json, raw, classes, xml, binary

    static func help(for value: InspectionForm) -> ArgumentHelp? {
        switch value {
        case .tree: "A tree of objects and their fields."
        case .json: "The value form as JSON, on one line."
        case .raw: "The table of objects as stored, with references as UIDs."
        case .classes: "The classes with their superclasses and the number of their objects."
        case .xml: "The archive as a property list in XML."
        case .binary: "The archive as a binary property list."
        }
    }
}

/// Whether `inspect` uses colours.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never
}
