import ArgumentParser

/// What the tool says of words that cannot be meant, each with the exit status.
extension ToolError {
    static let hostWithoutName = ToolError(
        "-host needs the name of a host, and then the verb; see defaultsctl --help", wrongLine)

    static let hostWithoutVerb = ToolError(
        "-currentHost and -host stand before a verb that takes a domain, such as read or write; "
            + "see defaultsctl --help", wrongLine)

    static let appWithoutName = ToolError(
        "-app needs the name of an application; see defaultsctl --help", wrongLine)

    static func hostTwice(_ domain: String) -> ToolError {
        ToolError(
            "The domain \(domain.onOneLine) names its layer already; leave out -currentHost or "
                + "-host.", wrongLine)
    }

    static func domainPath(_ path: String) -> ToolError {
        ToolError(
            "'\(path.onOneLine)' is the path of a file, and here domains are kept in no files of "
                + "their own. Give the application ID; 'defaultsctl import DOMAIN FILE' takes over "
                + "the keys of a property list.", refused)
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
