import DefaultsTerms

/// The host that a command line is for: `-currentHost` or `-host NAME` before the verb, or one of
/// these or `--current-host` or `--host NAME` after it.
struct HostWords {
    /// The options that macOS's `defaults` takes before its verb, and we before the domain, too.
    static let spellings = ["-currentHost", "-host"]

    /// The option of ours that names a host, which stands behind the verb.
    static let nameOption = "--host"

    private enum Choice {
        case any
        case current
        case named(String)
    }

    private var choice = Choice.any

    /// The longest name of a host that the service takes, in bytes.
    private static let longestName = 64

    /// Takes the host option from the beginning of the words, if there is one.
    init(_ words: inout ArraySlice<String>) throws(ToolError) {
        switch words.first {
        case "-currentHost":
            words.removeFirst()
            choice = .current
        case "-host":
            words.removeFirst()
            choice = .named(try Self.name(words.popFirst()))
        default: break
        }
    }

    /// Takes an option that stands behind the verb, with the word that is its value.
    ///
    /// - Returns: Whether it is one of a host.
    mutating func take(
        _ option: String, before rest: inout ArraySlice<String>
    ) throws(ToolError) -> Bool {
        let taken: Choice
        switch option {
        case "--current-host", "-currentHost": taken = .current
        case Self.nameOption, "-host": taken = .named(try Self.name(rest.popFirst()))
        case _ where option.hasPrefix("--host="):
            taken = .named(try Self.name(String(option.dropFirst("--host=".count))))
        default: return false
        }
        guard case .any = choice else { throw .severalHosts }
        choice = taken
        return true
    }

    /// Takes this host, which a domain was given by.
    mutating func chooseCurrent() throws(ToolError) {
        if case .named = choice { throw .severalHosts }
        choice = .current
    }

    private static func name(_ word: String?) throws(ToolError) -> String {
        guard let word, !word.isEmpty else { throw .hostWithoutName }
        guard isName(word) else { throw .noHost(word, longest: longestName) }
        return word
    }

    /// Whether a host can be named so.
    static func isName(_ word: String) -> Bool {
        (1...longestName).contains(word.utf8.count) && word.utf8.allSatisfy(isOfName)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._-".utf8.contains(byte)
        }
    }

    /// The same as an option of ours, if one was given.
    var option: [String]? {
        switch choice {
        case .any: nil
        case .current: ["--current-host"]
        case .named(let name): ["--host=\(name)"]
        }
    }

    /// The domain's layer for the host.
    func layer(of domain: String) throws(ToolError) -> String {
        let suffix: String
        switch choice {
        case .any: return domain
        case .current: suffix = LayerName.host.suffix
        case .named(let name): suffix = LayerName.suffix(ofHost: name)
        }
        guard !domain.contains(LayerName.separator) else { throw .hostTwice(domain) }
        return domain + suffix
    }
}
