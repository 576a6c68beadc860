import DefaultsTerms

/// What the tool says of changes that cannot be made.
extension ToolError {
    static func noSuchKey(_ key: String) -> ToolError {
        ToolError(
            "'\(key.inBrief)' can be no key: a key has 1 to \(KeyRule.maximumLength) bytes, and "
                + "none of them is zero.", refused)
    }

    static func twoGenerations(_ key: String) -> ToolError {
        ToolError(
            "An earlier line expects another generation of '\(key.onOneLine)'; it can have only one.",
            refused)
    }

    static func valueTooLarge(_ key: String, _ size: Int) -> ToolError {
        ToolError(
            "The value of '\(key.onOneLine)' takes \(size) bytes; a value has 16 MiB at most. Keep "
                + "large data in files.", refused)
    }

    static func changeTooLarge(_ domain: String, _ size: Int, most: Int) -> ToolError {
        ToolError(
            "The changes of \(domain) take \(size >> 20) MiB together, and one change can have "
                + "\(most >> 20). Make them in parts.", refused)
    }

    static let waitInDocument = ToolError(
        "--wait is for all changes: give it to apply.", refused)

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
        "Standard input cannot be a value in a document. Name a file after --archive.", refused)

    static let skippingInDocument = ToolError(
        "--skip-locked is for delete, delete-all, import and backup restore; a line of a document "
            + "cannot use it.", refused)

    static let changedInDocument = ToolError(
        "--changed is for all changes: give it to apply.", refused)
}
