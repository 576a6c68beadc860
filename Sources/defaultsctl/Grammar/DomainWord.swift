import DefaultsTerms

/// A domain as macOS's `defaults` takes it: a name, a name of the global domain, `-app NAME`, or
/// the path of the domain's file on macOS.
struct DomainWord {
    private static let globalNames: Set<String> = [
        "-g", "-globalDomain", GlobalDomain.name, "Apple Global Domain",
        "kCFPreferencesAnyApplication", ".GlobalPreferences",
    ]

    let name: String
    /// Whether it is the path of a macOS file with the values for one host.
    let isOfThisHost: Bool

    /// Reads the words of a domain.
    ///
    /// - Parameter mayBeFile: Whether the path of a file is allowed instead of a domain.
    /// - Throws: `ToolError` if the words are not a domain: the path of a file, or an unknown
    ///   application.
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

    /// Makes a domain from a name alone, without the special words of macOS's tool.
    init(name: String) throws(ToolError) {
        guard !name.hasPrefix("-") else { throw .noDomainName(name) }
        isOfThisHost = false
        self.name = Self.globalNames.contains(name) ? GlobalDomain.name : name
    }

    private static func isPath(_ word: String) -> Bool {
        word.contains("/") || word.hasPrefix("~") || word.hasSuffix(".plist")
    }
}

/// The path at which macOS stores a domain: `…/Preferences/NAME` or
/// `…/Preferences/ByHost/NAME.UUID`, with or without `.plist`.
///
/// Dot files use such paths. No such file is read or written: the path before `Preferences` belongs
/// to another machine.
struct PreferencesPath {
    let domain: String
    /// Whether the file is for one host.
    ///
    /// Here it means this host.
    let isByHost: Bool

    /// - Returns: Nil for any other word.
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

    /// The name without the ID of a machine at its end, which is a UUID or the 12 digits of an
    /// address.
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
    /// The name that macOS's tool prints for the domain.
    static let title = "Apple Global Domain"
}

extension String {
    /// The name of the domain as macOS's tool prints it.
    var domainTitle: String { self == GlobalDomain.name ? GlobalDomain.title : self }
}
