import ArgumentParser
import DefaultsClient
import DefaultsProtocol

/// Messages about domains, keys and property lists.
///
/// If macOS's tool has a message, it is the same.
extension ToolError {
    static func noPair(_ domain: String, _ key: String, meant: String? = nil) -> ToolError {
        ToolError(
            "The domain/default pair of (\(domain.onOneLine), \(key.onOneLine)) does not exist"
                + suggestion(meant), refused,
            onMacOS: "\nThe domain/default pair of (\(domain.macOSConstant), \(key.onOneLine)) "
                + "does not exist\n")
    }

    static func noDomain(_ domain: String, meant: String? = nil) -> ToolError {
        ToolError(
            "Domain \(domain.domainTitle.onOneLine) does not exist" + suggestion(meant), refused,
            onMacOS: "\nDomain \(domain.withoutLayer.domainTitle.onOneLine) does not exist\n")
    }

    /// A domain that only a layer has that is not the user's own.
    static func noDomain(_ domain: String, onlyIn layer: DefaultsLayer) -> ToolError {
        let error = noDomain(domain)
        return ToolError(
            "\(error.fact) in the user's own values; the layer \(layer) has it. Give --effective to use the "
                + "values that apply.", like: error)
    }

    /// A key that only a layer has that is not the user's own.
    static func noPair(_ domain: String, _ key: String, onlyIn layer: DefaultsLayer) -> ToolError {
        let error = noPair(domain, key)
        return ToolError(
            "\(error.fact) in the user's own values; the layer \(layer) has it. Give --effective to use the "
                + "values that apply.", like: error)
    }

    private static func suggestion(_ meant: String?) -> String {
        meant.map { ". Did you mean '\($0.onOneLine)'?" } ?? ""
    }

    /// A remark about an exported domain, which is probably mistyped.
    static func nothingToExport(_ domain: String, meant: String?) -> String {
        "\(domain.domainTitle.onOneLine) has no keys, so the exported dictionary is empty"
            + (meant == nil ? "." : suggestion(meant))
    }

    static func nothingDeleted(_ domain: String, meant: String?) -> ToolError {
        ToolError(
            "Domain (\(domain.onOneLine)) not found. Defaults have not been changed"
                + (meant == nil ? "." : suggestion(meant)), refused, onMacOS: notFound(domain))
    }

    /// What macOS says of a domain and of a key that cannot be deleted.
    private static func notFound(_ domain: String) -> String {
        "\nDomain (\(domain.macOSConstant)) not found.\nDefaults have not been changed.\n"
    }

    static func nothingDeleted(_ key: String, in domain: String, meant: String?) -> ToolError {
        ToolError(
            "Key '\(key.inBrief)' of domain \(domain.domainTitle.onOneLine) not found. Defaults have "
                + "not been changed" + (meant == nil ? "." : suggestion(meant)), refused,
            onMacOS: notFound(domain))
    }

    static func nothingFound(_ word: String) -> ToolError {
        ToolError(
            "No domain, key, nor value containing '\(word.inBrief)'", refused,
            onMacOS: "No domain, key, nor value containing '\(word.onOneLine)'")
    }

    static func noKeyToRename(_ key: String, in domain: String, meant: String?) -> ToolError {
        ToolError(
            "Key \(key.onOneLine) does not exist in domain \(domain.domainTitle.onOneLine); leaving "
                + "defaults unchanged" + suggestion(meant), refused,
            onMacOS: "Key \(key.onOneLine) does not exist in domain "
                + "\(domain.withoutLayer.domainTitle.onOneLine); leaving defaults unchanged")
    }

    /// A remark about a name without a lock, which is probably mistyped.
    static func nothingToLock(_ key: String?, in domain: String, meant: String) -> String {
        let name = key.map { "the key '\($0.inBrief)' of " } ?? ""
        return "No layer has \(name)\(domain.domainTitle.onOneLine)\(suggestion(meant))"
    }

    static func keyExists(_ key: String, in domain: String) -> ToolError {
        ToolError(
            "The key \(key.onOneLine) exists in domain \(domain.domainTitle.onOneLine). To replace its "
                + "value, give --replace.", refused, remark: .nothingChanged)
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
