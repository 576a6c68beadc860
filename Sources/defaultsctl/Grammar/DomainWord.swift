import DefaultsTerms

/// A domain as macOS's `defaults` takes it: a name, a name of the global domain, `-app NAME`, or
/// the name or the path of the domain's file on macOS.
///
/// It means the same everywhere that a domain may stand.
struct DomainWord {
    private static let applicationFlag = "-app"

    let name: String
    /// Whether it is the path of a macOS file with the values for one host.
    let isOfThisHost: Bool

    /// Reads the words of a domain.
    ///
    /// - Throws: `ToolError` if the words are not a domain: the path of another file, an unknown
    ///   application, or a word that begins with a hyphen.
    init(
        _ word: String, before rest: inout ArraySlice<String>, mayHaveHyphen: Bool = false
    ) throws(ToolError) {
        guard word.lowercased() == Self.applicationFlag else {
            try self.init(word, mayHaveHyphen: mayHaveHyphen)
            return
        }
        guard let application = rest.popFirst() else { throw .appWithoutName }
        self.init(name: try DesktopApplications.installed.identifier(of: application))
    }

    private init(name: String) {
        (self.name, isOfThisHost) = (name, false)
    }

    /// Reads a domain of one word.
    ///
    /// - Parameter mayHaveHyphen: Whether a name may begin with a hyphen. No new domain may: it would be
    ///   a mistyped option. But earlier versions have stored such domains.
    init(_ word: String, mayHaveHyphen: Bool = false) throws(ToolError) {
        let file = PreferencesPath(word)
        isOfThisHost = file?.isByHost ?? false
        let word = file?.domain ?? word
        let base = String(word.prefix { $0 != "@" })
        let layer = word.dropFirst(base.count)
        if CommandSpelling.isGlobal(base) {
            name = GlobalDomain.name + layer
            return
        }
        guard !Self.isPath(word) else { throw .domainPath(word) }
        guard mayHaveHyphen || !word.hasPrefix("-") else {
            throw .noDomainName(
                word, meant: Spelling.nearest(to: word, among: Self.flags + HostWords.spellings))
        }
        name = word
    }

    private static let flags = ["-g", "-globalDomain", applicationFlag]

    /// The words of a verb whose domains come after other words, with a name for each domain that is
    /// spelled with a flag.
    ///
    /// - Parameter options: The options whose values are not domains.
    static func replacingFlags(
        in words: [String], exceptAfter options: Set<String>
    ) throws(ToolError) -> [String] {
        var (replaced, rest): ([String], ArraySlice<String>) = ([], words[...])
        while let word = rest.popFirst() {
            let isDomain = isFlag(word) && !(replaced.last.map(options.contains) ?? false)
            replaced.append(isDomain ? try DomainWord(word, before: &rest).name : word)
        }
        return replaced
    }

    /// Whether a word can only be a domain, and not a file.
    static func isFlag(_ word: String) -> Bool {
        word.lowercased() == applicationFlag || CommandSpelling.isGlobalFlag(word)
    }

    private static func isPath(_ word: String) -> Bool {
        word.contains("/") || word.hasPrefix("~") || word.hasSuffix(CommandSpelling.fileEnding)
    }
}

/// The path at which macOS stores a domain: `…/Preferences/NAME` or
/// `…/Preferences/ByHost/NAME.UUID`, with or without `.plist`, or only the name of the file,
/// `NAME.plist`.
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
        guard let last = parts.last else { return nil }
        let ending = CommandSpelling.fileEnding
        let hasEnding = last.hasSuffix(ending)
        let file = hasEnding ? last.dropLast(ending.count) : last
        if parts.count == 1 {
            guard hasEnding else { return nil }
            (domain, isByHost) = (String(file), false)
        } else if parts[parts.count - 2] == "Preferences" {
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

extension [String] {
    /// The names of domains, or patterns, that were typed like this.
    func domainNames() throws(ToolError) -> [String] {
        try map { word throws(ToolError) in try DomainWord(word).name }
    }
}

extension GlobalDomain {
    /// The name that macOS's tool prints for the domain.
    static let title = "Apple Global Domain"
    /// The constant of macOS for the domain.
    static let constant = "kCFPreferencesAnyApplication"
}

extension String {
    /// The name of the domain as macOS's tool prints it.
    var domainTitle: String { self == GlobalDomain.name ? GlobalDomain.title : self }

    /// The name of a domain without the suffix of its layer.
    var withoutLayer: String { String(prefix { $0 != "@" }) }

    /// The domain as macOS's tool prints it where it prints the name of a constant.
    var macOSConstant: String {
        withoutLayer == GlobalDomain.name ? GlobalDomain.constant : withoutLayer.onOneLine
    }
}
