import ArgumentParser
import DefaultsProtocol

/// Messages about domains, keys and property lists.
///
/// If macOS's tool has a message, it is the same.
extension ToolError {
    static func noPair(_ domain: String, _ key: String, meant: String? = nil) -> ToolError {
        ToolError(
            "The domain/default pair of (\(domain.onOneLine), \(key.onOneLine)) does not exist"
                + suggestion(meant), refused)
    }

    static func noDomain(_ domain: String, meant: String? = nil) -> ToolError {
        ToolError(
            "Domain \(domain.domainTitle.onOneLine) does not exist" + suggestion(meant), refused)
    }

    private static func suggestion(_ meant: String?) -> String {
        meant.map { ". Did you mean '\($0.onOneLine)'?" } ?? ""
    }

    static func noDomainToExport(_ domain: String) -> ToolError {
        ToolError("The domain \(domain.domainTitle.onOneLine) does not exist", refused)
    }

    static func nothingDeleted(_ domain: String, meant: String?) -> ToolError {
        ToolError(
            "Domain (\(domain.onOneLine)) not found. Defaults have not been changed"
                + (meant == nil ? "." : suggestion(meant)), refused)
    }

    static func nothingDeleted(_ key: String, in domain: String, meant: String?) -> ToolError {
        ToolError(
            "Key '\(key.inBrief)' of domain \(domain.domainTitle.onOneLine) not found. Defaults have "
                + "not been changed" + (meant == nil ? "." : suggestion(meant)), refused)
    }

    static func nothingFound(_ word: String) -> ToolError {
        ToolError("No domain, key, nor value containing '\(word.inBrief)'", refused)
    }

    static func noKeyToRename(_ key: String, in domain: String) -> ToolError {
        ToolError(
            "Key \(key.onOneLine) does not exist in domain \(domain.domainTitle.onOneLine); leaving "
                + "defaults unchanged", refused)
    }

    static func cannotTake(_ key: String, because error: any Error) -> ToolError {
        ToolError("The value of '\(key.onOneLine)' cannot be imported: \(error)", refused)
    }

    static let keyIsNoText = ToolError(
        "A key of the property list has an unpaired surrogate, which is not allowed in a key.",
        refused)

    static func fileIsEmpty(_ name: String) -> ToolError {
        ToolError("\(name.onOneLine) is empty: it contains no property list.", refused)
    }

    static func keyHasNUL(_ key: String, in name: String) -> ToolError {
        ToolError(
            "The key '\(key.onOneLine)' in \(name.onOneLine) has a NUL, which is not allowed in a key.",
            refused)
    }

    static func cannotRead(_ name: String, because reason: String) -> ToolError {
        ToolError("Could not read data from \(name.fileTitle): \(reason)", refused)
    }

    static func cannotParseFile(_ name: String, because reason: String) -> ToolError {
        ToolError("Could not parse property list from \(name.fileTitle) due to \(reason)", refused)
    }

    static func fileIsNoDictionary(_ name: String) -> ToolError {
        ToolError(
            "Property list \(name.fileTitle) was not a dictionary. Defaults have not been changed.",
            refused)
    }

    static func fileIsArchive(_ name: String) -> ToolError {
        ToolError(
            "\(name.fileTitle) is a keyed archive, which is one value and not a domain. Give the key "
                + "for it: 'defaultsctl import DOMAIN FILE --key KEY'. Defaults have not been "
                + "changed.", refused)
    }

    static func keysNotExported(_ key: String, count: Int) -> ToolError {
        let others = count > 1 ? " and \(count - 1) more" : ""
        return ToolError(
            "XML cannot represent every key. Left out: '\(key.onOneLine)'\(others). Use "
                + "--format binary or json.", refused)
    }

    static func cannotExport(_ domain: String, _ name: String, because reason: String) -> ToolError
    {
        ToolError(
            "Could not export domain \(domain.onOneLine) to \(name.fileTitle) due to \(reason)",
            refused)
    }
}

extension ToolError: CustomStringConvertible {
    /// The message.
    var description: String { message }
}

/// Messages about layers and locks.
extension ToolError {
    static func oneLayer(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is one layer, but this searches all layers. Omit "
                + "'@' and the text after it, -currentHost and -host.", wrongLine)
    }

    static func locked(_ locked: LockedKey) -> ToolError {
        let scope = locked.isForAllApplications ? " for all applications" : ""
        return ToolError(
            "The key '\(locked.key.inBrief)' of \(locked.domain.onOneLine) is locked\(scope) by the "
                + "administrator, in \(locked.file.onOneLine).", refused, remark: .nothingChanged)
    }

    static func readOnly(_ domain: String) -> ToolError {
        ToolError(
            "\(domain.onOneLine) is read only: its values come from files of the administrator or a vendor.",
            refused)
    }
}
