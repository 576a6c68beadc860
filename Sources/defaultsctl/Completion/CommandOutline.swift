import ArgumentParser
import KeyedArchive

/// The verbs of the tool with their words and options, as `--help` tells them.
///
/// This is the library's own description of the declared commands, so that what completes is what is
/// parsed.
struct CommandOutline: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// As it is typed.
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
        /// Whether a word of its own follows that is its value.
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

    /// What an option or flag is, by one of its spellings.
    func option(spelled spelling: String) -> Argument? {
        options.first { $0.spellings.contains(spelling) }
    }
}
