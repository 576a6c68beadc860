/// A domain as macOS's `defaults` takes it: a name, a name of the global domain, or `-app NAME`.
struct DomainWord {
    private static let globalNames: Set<String> = [
        "-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain",
        "kCFPreferencesAnyApplication", ".GlobalPreferences",
    ]

    let name: String

    /// Takes the words of a domain.
    ///
    /// - Parameter mayBeFile: Whether the path of a file may stand in the place of the domain.
    /// - Throws: `ToolError` where no domain can be meant: the path of a file, an application that
    ///   is not there.
    init(
        _ word: String, before rest: inout ArraySlice<String>, mayBeFile: Bool = false
    ) throws(ToolError) {
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

    /// The domain of a name that stands alone, where words of macOS's tool are none.
    init(name: String) throws(ToolError) {
        guard !name.hasPrefix("-") else { throw .noDomainName(name) }
        self.name = Self.globalNames.contains(name) ? GlobalDomain.name : name
    }

    private static func isPath(_ word: String) -> Bool {
        word.contains("/") || word.hasPrefix("~") || word.hasSuffix(".plist")
    }
}

/// The domain that every application looks into after its own.
enum GlobalDomain {
    static let name = "NSGlobalDomain"

    /// What macOS's tool calls the domain where it names it.
    static let title = "Apple Global Domain"
}

extension String {
    /// The domain as macOS's tool names it.
    var domainTitle: String { self == GlobalDomain.name ? GlobalDomain.title : self }
}
