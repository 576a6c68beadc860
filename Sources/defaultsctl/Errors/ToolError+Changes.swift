import DefaultsTerms
import Wording

/// Messages about changes that cannot be made.
extension ToolError {
    static func noSuchKey(_ key: String) -> ToolError {
        ToolError(
            "'\(key.inBrief)' is not a valid key: a key has 1 to \(KeyRule.maximumLength) bytes, and "
                + "none of them is zero.", refused)
    }

    static func twoGenerations(_ key: String) -> ToolError {
        ToolError(
            "An earlier line expects a different generation of '\(key.onOneLine)'. Use one "
                + "generation for each key.", refused)
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
        "A line cannot have --wait. Use it with the command: 'defaultsctl apply --wait'.", refused)

    static let notAsked = ToolError(
        "This command asks for confirmation, but standard input is not a terminal. Give --yes to "
            + "remove everything without being asked.", wrongLine)

    static let notConfirmed = ToolError("Nothing was changed.", refused)

    static func resetIncomplete(
        _ removed: Int, undo: String, because error: any Error
    ) -> ToolError {
        ToolError(error).remarking(
            "\(counted(removed, "key")) had already been removed. To undo this, run "
                + "'defaultsctl backup restore \(undo)'.")
    }

    static let inputInDocument = ToolError(
        "A line cannot take its value from standard input. Name a file after --archive.", refused)

    static let skippingInDocument = ToolError(
        "--skip-locked is for delete, delete-all, import and backup restore. A line of a document "
            + "cannot use it.", refused)

    static let changedInDocument = ToolError(
        "A line cannot have --changed. Use it with the command: 'defaultsctl apply --changed'.",
        refused)
}
