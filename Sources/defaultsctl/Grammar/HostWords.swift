/// The host options that stand before the verb: `-currentHost` or `-host NAME`.
struct HostWords {
    private enum Choice {
        case any
        case current
        case named(String)
    }

    private let choice: Choice

    /// Takes the host option from the beginning of the words, where there is one.
    init(_ words: inout ArraySlice<String>) throws(ToolError) {
        switch words.first {
        case "-currentHost":
            words.removeFirst()
            choice = .current
        case "-host":
            words.removeFirst()
            guard let name = words.popFirst(), !name.isEmpty else { throw .hostWithoutName }
            choice = .named(name)
        default:
            choice = .any
        }
    }

    /// The same as an option of ours, where one was given.
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
        case .current: suffix = "@host"
        case .named(let name): suffix = "@host:\(name)"
        }
        guard !domain.contains("@") else { throw .hostTwice(domain) }
        return domain + suffix
    }
}
