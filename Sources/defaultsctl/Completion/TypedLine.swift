import DefaultsTerms

/// The words before the one that is being typed, and their meaning.
struct TypedLine {
    /// The command; the tool itself if there is no verb yet.
    private(set) var command: CommandOutline
    private(set) var hasVerb = false
    /// The words that are not options: a domain, a key, and so on.
    private(set) var positions: [String] = []
    /// The option whose value comes next.
    private(set) var pending: CommandOutline.Argument?
    /// Whether the name of a host comes next.
    private(set) var isHostPending = false
    /// The options of the command that were typed.
    private(set) var options: Set<String> = []
    /// Whether the following words are not options any more.
    private(set) var isLiteral = false

    /// The words that mean the global domain.
    static let globalDomains = ["-g", "-globalDomain"]
    /// The option before the name of an application.
    ///
    /// Together they mean a domain.
    static let application = "-app"

    init(_ words: [String], of tool: CommandOutline) {
        command = tool
        var rest = words[...]
        while let word = rest.popFirst() { take(word, &rest) }
    }

    private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) {
        if isLiteral || !word.hasPrefix("-") || word == "-" { return takePosition(word) }
        switch word {
        case "--": isLiteral = true
        case "-host" where positions.isEmpty: isHostPending = rest.popFirst() == nil
        case "-currentHost" where positions.isEmpty: break
        case _ where Self.globalDomains.contains(word) && positions.isEmpty:
            positions.append(GlobalDomain.name)
        case Self.application where positions.isEmpty:
            _ = rest.popFirst()
            positions.append("")
        default: takeOption(word, &rest)
        }
    }

    private mutating func takePosition(_ word: String) {
        if positions.isEmpty, let verb = command.verbs.first(where: { $0.commandName == word }) {
            (command, hasVerb) = (verb, true)
        } else {
            positions.append(word)
        }
    }

    private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) {
        guard let option = command.option(spelled: word) else {
            // The flag of a type, or a word that only looks like an option.
            return positions.append(word)
        }
        options.insert(word)
        guard option.takesValue else { return }
        guard rest.popFirst() == nil else { return }
        pending = option
        isHostPending = word == HostWords.nameOption
    }
}

/// The kind of domain that a verb takes.
enum CompletedDomains {
    /// One layer of the user.
    case written
    /// One layer, which may be made from files.
    case read
    /// All layers, by the name without a suffix.
    case searched
}

extension TypedLine {
    /// The kind of domain that the typed words ask for.
    var domains: CompletedDomains {
        Defaultsctl.arrangedVerb(command.commandName)?.completedDomains(with: options) ?? .written
    }
}
