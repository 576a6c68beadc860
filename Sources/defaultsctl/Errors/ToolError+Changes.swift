import DefaultsTerms

/// Messages about changes that cannot be made.
extension ToolError {
    static func noSuchKey(_ key: String) -> ToolError {
        ToolError(
            "'\(key.inBrief)' is not a valid key: a key has 1 to \(KeyRule.maximumLength) bytes, and "
                + "none of them is zero.", refused)
    }

    static func twoGenerations(_ key: String) -> ToolError {
        ToolError(
            "An earlier line expects another generation of '\(key.onOneLine)'. Expect only one.",
            refused)
    }

    static func valueTooLarge(_ key: String, _ size: Int) -> ToolError {
        ToolError(
            "The value of '\(key.onOneLine)' has \(size) bytes, but a value has at most 16 MiB. Keep "
                + "large data in files.", refused)
    }

    static func changeTooLarge(_ domain: String, _ size: Int, most: Int) -> ToolError {
        ToolError(
            "The changes of \(domain) have \(size >> 20) MiB together, but one change has at most "
                + "\(most >> 20) MiB. Split them.", refused)
    }

    static let waitInDocument = ToolError(
        "--wait is not allowed in a line. Give it to apply.", refused)

    static let notAsked = ToolError(
        "There is no terminal to ask on. Give --yes to remove everything that was set.", wrongLine)

    static let notConfirmed = ToolError("Nothing was changed.", refused)

    static func resetIncomplete(
        _ removed: Int, undo: String, because error: any Error
    ) -> ToolError {
        ToolError(error).remarking(
            "\(Amount.of(removed, "key")) had been removed before; to undo: "
                + "defaultsctl backup restore \(undo)")
    }

    static let inputInDocument = ToolError(
        "Standard input cannot be a value in a document. Give a file after --archive.", refused)

    static let skippingInDocument = ToolError(
        "--skip-locked is for delete, delete-all, import and backup restore. A line of a document "
            + "cannot use it.", refused)

    static let changedInDocument = ToolError(
        "--changed is not allowed in a line. Give it to apply.", refused)
}
