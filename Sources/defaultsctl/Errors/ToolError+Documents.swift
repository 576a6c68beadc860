import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import OwnedDocuments
import Wording

/// Messages about documents with owners.
extension ToolError {
    private static let mostNamed = 20

    static let domainOfDirectory = ToolError(
        "--domain is for one file. In a directory, the name of a file is its domain.", wrongLine)

    static let domainWithoutOwner = ToolError(
        "A file of one domain needs an owner, too: --owner NAME.", wrongLine)

    static let noHeader = ToolError(
        "The input is not a document: \"$defaults\" is missing. If it is YAML, give --format yaml. If it is one "
            + "domain, give --domain and --owner.",
        refused)

    static func optionOfDocuments(_ option: String) -> ToolError {
        ToolError(
            "\(option) is for documents, which have \"$defaults\". This input is lines with one change each.",
            wrongLine)
    }

    static func directoryWithoutOwner(_ path: String) -> ToolError {
        ToolError("The files in \(path.fileTitle) name no owner. Give --owner NAME.", wrongLine)
    }

    static func emptyDocument(_ owner: Owner) -> ToolError {
        ToolError(
            "The document has no keys. To take back all that \(owner.name) has set, run "
                + "'defaultsctl unapply \(owner.name)'.", refused, remark: .nothingChanged)
    }

    static func laterRow(_ name: String) -> ToolError {
        ToolError(
            "The value '\(name.inBrief)' of \(AppliedTerms.domain) is of a later version of defaultsctl. "
                + "Use that version.", refused, remark: .nothingChanged)
    }

    static func unfitForKey(_ place: KeyPlace, because reason: any Error) -> ToolError {
        ToolError(
            "\(place.domain.onOneLine) '\(place.key.inBrief)': \(ToolError(reason).fact)", refused,
            remark: .nothingChanged)
    }

    static func ownedByOthers(_ conflicts: [DocumentPlan.Conflict], by owner: Owner) -> ToolError {
        let keys = conflicts.prefix(mostNamed).map {
            "\($0.place.key.inBrief) of \($0.place.domain.onOneLine) (\($0.owner.name))"
        }
        let others = conflicts.count - keys.count
        return ToolError(
            "\(owner.name) wants \(counted(conflicts.count, "key")) that other owners have: "
                + keys.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
                + ". To take over what others have, give --force-conflicts.", refused,
            remark: .nothingChanged)
    }

    static func allLocked(_ keys: [LockedKey]) -> ToolError {
        let names = keys.prefix(mostNamed).map {
            "\($0.key.inBrief) of \($0.domain.onOneLine) (\($0.file.fileTitle))"
        }
        let others = keys.count - names.count
        return ToolError(
            "The administrator has locked \(counted(keys.count, "key")) that would change: "
                + names.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
                + ". To leave what is locked, give --skip-locked.", refused, remark: .nothingChanged
        )
    }

    static func muchGoesBack(_ fact: String) -> ToolError {
        ToolError("\(fact) If that is meant, give --yes.", refused, remark: .nothingChanged)
    }

    static func documentTooLarge(values: Int, rows: Int, most: Int) -> ToolError {
        ToolError(
            "The change has \(values >> 20) MiB of values and \(rows >> 20) MiB of what comes back later, but "
                + "one change has at most \(most >> 20) MiB. Divide the document among several owners.",
            refused, remark: .nothingChanged)
    }

    static func cannotMakeDirectory(_ path: String, _ reason: String) -> ToolError {
        ToolError("The directory \(path.fileTitle) cannot be made: \(reason).", refused)
    }

    static func noOwner(_ owner: Owner, among owners: [String]) -> ToolError {
        let meant = Spelling.nearest(to: owner.name, among: owners).map { " Did you mean '\($0)'?" }
        return ToolError("\(owner.name) owns no keys." + (meant ?? ""), refused)
    }
}
