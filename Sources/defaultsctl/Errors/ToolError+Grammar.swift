import ArgumentParser
import DefaultsTerms

/// Messages about invalid command lines, each with the exit status.
extension ToolError {
    static let hostWithoutName = ToolError(
        "-host needs the name of a host; see defaultsctl --help", wrongLine)

    static let hostWithoutVerb = ToolError(
        "-currentHost and -host come before a verb that takes a domain, such as read or write; "
            + "see defaultsctl --help", wrongLine)

    static func hostTooLate(_ option: String, _ command: any ArrangedVerb.Type) -> ToolError {
        let (words, ours) =
            option == "-host" ? ("-host NAME", "--host NAME") : (option, "--current-host")
        return ToolError(
            "\(option) comes before the verb: 'defaultsctl \(words) \(command.verb) …'. After it, the "
                + "option is \(ours). A key or a value of this name comes after '--'.", wrongLine)
    }

    static let severalHosts = ToolError(
        "Give one host: -currentHost or -host NAME before the verb, or --current-host or --host NAME "
            + "after it.", wrongLine)

    static func noHost(_ name: String, longest: Int) -> ToolError {
        ToolError(
            "'\(name.onOneLine)' is not a host name, which is 1 to \(longest) of A-Z, a-z, 0-9, '.', "
                + "'_' and '-'.", wrongLine)
    }

    static func hostWithoutDomain(_ command: any ArrangedVerb.Type) -> ToolError {
        ToolError(
            "Give the domain for which the host is meant; see defaultsctl \(command.verb) --help",
            wrongLine)
    }

    static let hostOfFile = ToolError(
        "A host can be given only with a domain and a key. Give both instead of a file.", wrongLine)

    static let hostOfLayer = ToolError(
        "Administrators and vendors cannot set values for one host. Omit -currentHost and -host, "
            + "or omit --managed and --system.", wrongLine)

    static func optionWithoutValue(_ option: String, of command: any ArrangedVerb.Type) -> ToolError
    {
        ToolError(
            "\(option) needs a value; see defaultsctl \(command.verb) --help", wrongLine)
    }

    static func unknownOption(
        _ word: String, of command: any ArrangedVerb.Type, meant: String?
    ) -> ToolError {
        ToolError(
            "\(command.verb) has no option '\(word.inBrief)'. "
                + (meant.map { "Did you mean '\($0)'? " } ?? "")
                + "A key or a value that begins with two hyphens comes after '--'.", wrongLine)
    }

    static func noDomainName(_ name: String, meant: String?) -> ToolError {
        ToolError(
            "'\(name.inBrief)' is not a domain, because it begins with a hyphen. "
                + (meant.map { "Did you mean '\($0)'?" }
                    ?? "The global domain is -g or \(GlobalDomain.name)."),
            wrongLine)
    }

    static func noText(_ place: Int, _ word: String) -> ToolError {
        ToolError(
            "Word \(place) of the command line is not UTF-8: \(word.onOneLine)", wrongLine)
    }

    static let importOfAll = ToolError(
        "import has no option '--all'. It takes one domain and one file. 'defaultsctl apply DIRECTORY --owner "
            + "NAME' takes a directory that 'export --all' has written, and 'defaultsctl backup restore' a "
            + "backup.", wrongLine)

    static let noCompletionScript = ToolError(
        "The program does not print completion scripts; 'make install' installs them.", wrongLine)

    static let appWithoutName = ToolError(
        "-app needs the name of an application; see defaultsctl --help", wrongLine)

    static func hostTwice(_ domain: String) -> ToolError {
        ToolError(
            "The domain \(domain.onOneLine) already names its layer. Omit -currentHost or "
                + "-host.", wrongLine)
    }

    static func domainPath(_ path: String) -> ToolError {
        ToolError(
            "'\(path.onOneLine)' is the path of a file, but domains are not stored in separate "
                + "files here. Only NAME.plist and a path that ends with '/Preferences/NAME.plist' mean a domain, NAME. "
                + "Give the application ID. 'defaultsctl import DOMAIN FILE' imports the keys of a "
                + "property list.", refused)
    }

    static func noApplication(
        _ name: String, near: ArraySlice<String>, of count: Int
    ) -> ToolError {
        let hint =
            near.isEmpty
            ? "none of the \(count) applications with desktop files has this name or ID"
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
