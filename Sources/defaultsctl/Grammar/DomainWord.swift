/// A domain as macOS's `defaults` takes it: a name, a name of the global domain, or `-app NAME`.
struct DomainWord {
    private static let globalNames: Set<String> = [
        "-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain",
        "kCFPreferencesAnyApplication",
    ]

    private let name: String

    /// Takes the words of a domain.
    ///
    /// - Throws: `ToolError` where no domain can be meant: the path of a file, an application that
    ///   is not there.
    init(_ word: String, before rest: inout ArraySlice<String>) throws(ToolError) {
        if Self.globalNames.contains(word) {
            name = GlobalDomain.name
        } else if word == "-app" {
            guard let application = rest.popFirst() else { throw .appWithoutName }
            name = try DesktopApplications.installed.identifier(of: application)
        } else if word.contains("/") || word.hasPrefix("~") || word.hasSuffix(".plist") {
            throw .domainPath(word)
        } else {
            name = word
        }
    }

    func domain(on host: HostWords) throws(ToolError) -> String { try host.layer(of: name) }
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
