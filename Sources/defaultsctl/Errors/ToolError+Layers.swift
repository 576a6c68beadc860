import DefaultsProtocol

/// What the tool says of layers and locks.
extension ToolError {
    static func oneLayer(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is one layer, and what holds is looked up in all of them; leave out "
                + "'@' and what follows, -currentHost and -host.", wrongLine)
    }

    static func locked(_ locked: LockedKey) -> ToolError {
        let scope = locked.isForAllApplications ? " for all applications" : ""
        return ToolError(
            "The key '\(locked.key.inBrief)' of \(locked.domain.onOneLine) is locked\(scope) by the "
                + "administrator, in \(locked.file.onOneLine).", refused, remark: .nothingChanged)
    }

    static func readOnly(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is read only: it is from files of the administrator or the vendor.",
            refused)
    }
}
