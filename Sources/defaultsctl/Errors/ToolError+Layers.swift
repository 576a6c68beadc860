/// What the tool says of layers and locks.
extension ToolError {
    static func oneLayer(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is one layer, and what holds is looked up in all of them; leave out "
                + "'@' and what follows, -currentHost and -host.", wrongLine)
    }

    static func locked(_ key: String, in domain: String, by file: String) -> ToolError {
        ToolError(
            "The key '\(key.inBrief)' of \(domain.onOneLine) is locked by the administrator, in "
                + "\(file.onOneLine). Nothing was changed.", refused)
    }

    static func readOnly(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is read only: it is from files of the administrator or the vendor.",
            refused)
    }
}
