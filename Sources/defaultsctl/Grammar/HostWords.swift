import DefaultsTerms

/// The host of a command line: `-currentHost` or `-host NAME` before the verb, or one of these or
/// `--current-host` or `--host NAME` after it.
struct HostWords {
    /// The options that macOS's `defaults` takes before its verb.
    ///
    /// We also take them before the domain.
    static let spellings = ["-currentHost", "-host"]

    /// Our own option for the name of a host, which comes after the verb.
    static let nameOption = "--host"

    private enum Choice {
        case any
        case current
        case named(String)
    }

    private var choice = Choice.any

    /// The longest host name that the service accepts, in bytes.
    private static let longestName = 64

    /// Reads the host option at the beginning of the words, if there is one.
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

    /// Reads an option after the verb, with the word that is its value.
    ///
    /// - Returns: Whether it is a host option.
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

    /// Selects this host, because the path of the domain says so.
    mutating func chooseCurrent() throws(ToolError) {
        if case .named = choice { throw .severalHosts }
        choice = .current
    }

    private static func name(_ word: String?) throws(ToolError) -> String {
        guard let word, !word.isEmpty else { throw .hostWithoutName }
        guard isName(word) else { throw .noHost(word, longest: longestName) }
        return word
    }

    /// Whether it is a valid host name.
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

    /// The words of our own option; nil if no host was given.
    var option: [String]? {
        switch choice {
        case .any: nil
        case .current: ["--current-host"]
        case .named(let name): ["--host=\(name)"]
        }
    }

    /// The host's layer of a domain.
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
