import DefaultsTerms

/// The words of a command line before the one that is being typed, and what they are.
struct TypedLine {
    /// The command that they name; the tool itself if there is no verb yet.
    private(set) var command: CommandOutline
    private(set) var hasVerb = false
    /// The words that are no options: a domain, a key, and so on.
    private(set) var positions: [String] = []
    /// The option whose value is to come next.
    private(set) var pending: CommandOutline.Argument?
    /// Whether the name of a host is to come next.
    private(set) var isHostPending = false
    /// The options of the command, as they are typed.
    private(set) var options: Set<String> = []
    /// Whether what follows is no option any more.
    private(set) var isLiteral = false

    /// The words that stand for the global domain.
    static let globalDomains = ["-g", "-globalDomain"]
    /// What is followed by the name of an application, and with it stands for a domain.
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
            // The flag of a type, or what only looks like an option.
            return positions.append(word)
        }
        options.insert(word)
        guard option.takesValue else { return }
        guard rest.popFirst() == nil else { return }
        pending = option
        isHostPending = word == HostWords.nameOption
    }
}

/// What kind of domain a verb takes.
enum CompletedDomains {
    /// One layer, of the user's own.
    case written
    /// One layer, which may be one of files.
    case read
    /// All layers, by the name without a suffix.
    case searched
}

extension TypedLine {
    /// What kind of domain is meant by what is typed.
    var domains: CompletedDomains {
        Defaultsctl.macVerb(command.commandName)?.completedDomains(with: options) ?? .written
    }
}
