import ArgumentParser
import KeyedArchive

/// The verbs of the tool with their words and options, as in `--help`.
///
/// This is ArgumentParser's own description of the commands. So completion and parsing agree.
struct CommandOutline: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// The spelling on a command line.
            var spelling: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let abstract: String?
        let names: [Name]?
        let valueName: String?
        let allValues: [String]?
        let isOptional: Bool
        let shouldDisplay: Bool

        var isPositional: Bool { kind == "positional" }
        /// Whether the next word is its value.
        var takesValue: Bool { kind == "option" }
        var spellings: [String] { names?.map(\.spelling) ?? [] }
    }

    let commandName: String
    let abstract: String?
    let shouldDisplay: Bool
    let subcommands: [CommandOutline]?
    let arguments: [Argument]?

    var verbs: [CommandOutline] { (subcommands ?? []).filter(\.shouldDisplay) }
    var options: [Argument] {
        (arguments ?? []).filter { !$0.isPositional && $0.shouldDisplay }
    }
    var positions: [Argument] { (arguments ?? []).filter(\.isPositional) }

    /// The outline of the whole tool.
    static func ofTool() throws -> CommandOutline {
        struct Description: Decodable {
            let command: CommandOutline
        }
        let description = try KeyedArchive(json: Defaultsctl._dumpHelp())
        return try KeyedArchiveDecoder().decode(Description.self, from: description).command
    }

    /// The option or flag with this spelling.
    func option(spelled spelling: String) -> Argument? {
        options.first { $0.spellings.contains(spelling) }
    }
}
