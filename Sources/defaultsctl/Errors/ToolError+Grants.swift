/// Messages about grants.
extension ToolError {
    static func noApplication(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' is not an application ID. Give one such as org.example.App, or * for "
                + "all programs in a sandbox.", wrongLine)
    }

    static func noPattern(_ word: String) -> ToolError {
        ToolError(
            "'\(word.inBrief)' does not name domains. Give a domain such as org.example.App, the "
                + "same with .* for all domains below it, too, or * for all domains.", wrongLine)
    }

    static func nothingGranted(_ application: String, _ patterns: [String]) -> ToolError {
        let domains = patterns.map { "'\($0.inBrief)'" }.joined(separator: ", ")
        let what =
            patterns.isEmpty
            ? "\(application.onOneLine) has no such grant"
            : "\(domains) is not granted to \(application.onOneLine)"
        return ToolError("\(what). 'defaultsctl grants' lists all grants.", refused)
    }

    static func invalidGrant(_ application: String) -> ToolError {
        ToolError(
            "The grant of \(application.onOneLine) in org.defaultsd.Grants is not a dictionary with "
                + "the lists read and write. Remove it with 'defaultsctl delete org.defaultsd.Grants "
                + "\(application.onOneLine)'.", refused)
    }
}
