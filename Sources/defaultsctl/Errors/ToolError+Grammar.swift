import ArgumentParser
import DefaultsTerms

/// What the tool says of words that cannot be meant, each with the exit status.
extension ToolError {
    static let hostWithoutName = ToolError(
        "-host needs the name of a host; see defaultsctl --help", wrongLine)

    static let hostWithoutVerb = ToolError(
        "-currentHost and -host stand before a verb that takes a domain, such as read or write; "
            + "see defaultsctl --help", wrongLine)

    static let severalHosts = ToolError(
        "Give one host: -currentHost or -host NAME before the verb, or --current-host or --host NAME "
            + "behind it.", wrongLine)

    static func noHost(_ name: String, longest: Int) -> ToolError {
        ToolError(
            "'\(name.onOneLine)' is no name of a host, which is 1 to \(longest) of A-Z, a-z, 0-9, '.', "
                + "'_' and '-'.", wrongLine)
    }

    static func hostWithoutDomain(_ command: any MacVerb.Type) -> ToolError {
        ToolError(
            "Name the domain whose layer of a host is meant; see defaultsctl \(command.verb) --help",
            wrongLine)
    }

    static let hostOfFile = ToolError(
        "A host is of a domain and its key, and a file has none; name both.", wrongLine)

    static let hostOfLayer = ToolError(
        "Files of the administrator and of vendors are for no host; leave out -currentHost or -host, "
            + "or --managed and --system.", wrongLine)

    static func optionWithoutValue(_ option: String, of command: any MacVerb.Type) -> ToolError {
        ToolError(
            "\(option) needs a value; see defaultsctl \(command.verb) --help", wrongLine)
    }

    static func unknownOption(
        _ word: String, of command: any MacVerb.Type, meant: String?
    ) -> ToolError {
        ToolError(
            "\(command.verb) has no option '\(word.inBrief)'. "
                + (meant.map { "Did you mean '\($0)'? " } ?? "")
                + "A key or a value that begins with two hyphens comes after '--'.", wrongLine)
    }

    static func noDomainName(_ name: String) -> ToolError {
        ToolError(
            "'\(name.onOneLine)' is no name of a domain here; the global one is "
                + "\(GlobalDomain.name).", wrongLine)
    }

    static func noText(_ place: Int, _ word: String) -> ToolError {
        ToolError(
            "Word \(place) of the command line is no text in UTF-8: \(word.onOneLine)", wrongLine)
    }

    static let noCompletionScript = ToolError(
        "The completion scripts are installed with the program; none is made by it.", wrongLine)

    static let appWithoutName = ToolError(
        "-app needs the name of an application; see defaultsctl --help", wrongLine)

    static func hostTwice(_ domain: String) -> ToolError {
        ToolError(
            "The domain \(domain.onOneLine) names its layer already; leave out -currentHost or "
                + "-host.", wrongLine)
    }

    static func domainPath(_ path: String) -> ToolError {
        ToolError(
            "'\(path.onOneLine)' is the path of a file, and domains are not kept in files of their "
                + "own here. Only a path that ends as '/Preferences/NAME.plist' names a domain, NAME. "
                + "Give the application ID; 'defaultsctl import DOMAIN FILE' takes over the keys of a "
                + "property list.", refused)
    }

    static func noApplication(
        _ name: String, near: ArraySlice<String>, of count: Int
    ) -> ToolError {
        let hint =
            near.isEmpty
            ? "none of the \(count) that have desktop files has this name or ID"
            : "there is \(near.map(\.onOneLine).joined(separator: ", "))"
        return ToolError(
            "Couldn't find an application named \"\(name.onOneLine)\"; defaults unchanged: \(hint).",
            refused)
    }

    static func severalApplications(_ name: String, _ identifiers: [String]) -> ToolError {
        ToolError(
            "Several applications are named \"\(name.onOneLine)\"; defaults unchanged. Give the ID "
                + "of one: \(identifiers.map(\.onOneLine).joined(separator: ", ")).", refused)
    }
}
