import DefaultsTerms

/// A domain as macOS's `defaults` takes it: a name, a name of the global domain, `-app NAME`, or the
/// path that macOS has the domain's file at.
struct DomainWord {
    private static let globalNames: Set<String> = [
        "-g", "-globalDomain", GlobalDomain.name, "Apple Global Domain",
        "kCFPreferencesAnyApplication", ".GlobalPreferences",
    ]

    let name: String
    /// Whether it is named by a file of macOS's that holds its values for one host.
    let isOfThisHost: Bool

    /// Takes the words of a domain.
    ///
    /// - Parameter mayBeFile: Whether the path of a file may stand in the place of the domain.
    /// - Throws: `ToolError` if no domain can be meant: the path of a file, an application that
    ///   is not there.
    init(
        _ word: String, before rest: inout ArraySlice<String>, mayBeFile: Bool = false
    ) throws(ToolError) {
        let file = mayBeFile ? nil : PreferencesPath(word)
        isOfThisHost = file?.isByHost ?? false
        let word = file?.domain ?? word
        if Self.globalNames.contains(word) {
            name = GlobalDomain.name
        } else if word == "-app" {
            guard let application = rest.popFirst() else { throw .appWithoutName }
            name = try DesktopApplications.installed.identifier(of: application)
        } else if !mayBeFile, Self.isPath(word) {
            throw .domainPath(word)
        } else {
            name = word
        }
    }

    /// The domain of a name that stands alone, if words of macOS's tool are none.
    init(name: String) throws(ToolError) {
        guard !name.hasPrefix("-") else { throw .noDomainName(name) }
        isOfThisHost = false
        self.name = Self.globalNames.contains(name) ? GlobalDomain.name : name
    }

    private static func isPath(_ word: String) -> Bool {
        word.contains("/") || word.hasPrefix("~") || word.hasSuffix(".plist")
    }
}

/// A path at which macOS keeps a domain: `…/Preferences/NAME`, or `…/Preferences/ByHost/NAME.UUID`,
/// with or without `.plist`.
///
/// Dot files name domains so. No file is read or written: what stands before `Preferences` is a home
/// of another machine.
struct PreferencesPath {
    let domain: String
    /// Whether the file holds what is set for one host, which is then this one.
    let isByHost: Bool

    /// - Returns: nil for every other word.
    init?(_ word: String) {
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, let last = parts.last else { return nil }
        let file = last.hasSuffix(".plist") ? last.dropLast(".plist".count) : last
        if parts[parts.count - 2] == "Preferences" {
            (domain, isByHost) = (String(file), false)
        } else if parts.suffix(3).dropLast() == ["Preferences", "ByHost"] {
            (domain, isByHost) = (Self.withoutHost(file), true)
        } else {
            return nil
        }
        guard !domain.isEmpty else { return nil }
    }

    /// The name without the identifier of a machine at its end, a UUID or the 12 digits of an address.
    private static func withoutHost(_ file: Substring) -> String {
        guard let point = file.lastIndex(of: ".") else { return String(file) }
        let groups = file[point...].dropFirst().split(
            separator: "-", omittingEmptySubsequences: false)
        let isIdentifier =
            [[8, 4, 4, 4, 12], [12]].contains(groups.map(\.count))
            && groups.joined().allSatisfy(\.isHexDigit)
        return String(isIdentifier ? file[..<point] : file)
    }
}

extension GlobalDomain {
    /// What macOS's tool calls the domain if it names it.
    static let title = "Apple Global Domain"
}

extension String {
    /// The domain as macOS's tool names it.
    var domainTitle: String { self == GlobalDomain.name ? GlobalDomain.title : self }
}
