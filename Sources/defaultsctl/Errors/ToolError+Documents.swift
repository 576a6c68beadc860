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

    static func noHeader(isYAML: Bool) -> ToolError {
        ToolError(
            "The input is not a document: \"$defaults\" is missing. "
                + (isYAML ? "" : "If it is YAML, give --format yaml. ")
                + "If it is one domain, give --domain and --owner.", refused)
    }

    static func optionOfDocuments(_ option: String) -> ToolError {
        ToolError(
            "\(option) is for documents, which have \"$defaults\". This input is lines with one change each.",
            wrongLine)
    }

    static func fileWithoutOwner(_ path: String) -> ToolError {
        ToolError("\(path.fileTitle) does not name an owner. Give --owner NAME.", wrongLine)
    }

    static func otherHosts(than host: String) -> String {
        "All of the document is for other machines. This one is called \(host.onOneLine)."
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

    static func unfitForKeys(_ faults: [DocumentPlan.Fault]) -> ToolError {
        let sentences = faults.prefix(mostNamed).map { fault in
            "\(fault.place.domain.onOneLine) '\(fault.place.key.inBrief)': \(ToolError(fault.reason).fact)"
        }
        let others = faults.count - sentences.count
        return ToolError(
            sentences.joined(separator: " ")
                + (others > 0 ? " \(counted(others, "other key")) cannot be made, either." : ""),
            refused, remark: .nothingChanged)
    }

    /// Another program has changed the same keys at each attempt.
    static func keptChanging(_ place: KeyPlace?) -> ToolError {
        guard let place else { return ToolError(ChangedMeanwhile()) }
        return ToolError(
            "Another program keeps changing '\(place.key.inBrief)' of \(place.domain.onOneLine). Quit it, and run "
                + "the command again.", refused, remark: .nothingChanged)
    }

    static func ownedByOthers(_ conflicts: [DocumentPlan.Conflict], by owner: Owner) -> ToolError {
        let keys = conflicts.prefix(mostNamed).map {
            "\($0.name.inBrief) of \($0.place.domain.onOneLine) (\($0.owner.name))"
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

    static func documentTooLarge(_ bytes: Int, kept: Int, most: Int) -> ToolError {
        ToolError(
            "The change has \(bytes >> 20) MiB, of which \(kept >> 20) MiB are values that come back later, but "
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

extension DocumentPlan.Conflict {
    /// The key, or the part of its value that both want.
    fileprivate var name: String {
        guard let part, !part.isEmpty else { return place.key }
        return "\(place.key).\(part)"
    }
}
