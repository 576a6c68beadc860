/// The words of a command line, as macOS's `defaults` takes them, put so that no word can be taken
/// for another: the verb, our own options, `--`, and then all that is a name or a value.
///
/// 1. Host options stand before the verb, and become the suffix of the domain.
/// 2. A word that begins with `--` is an option of ours but for among the words of a value, and
///    behind `--`. All other words mean what their place says.
struct CommandWords {
    private let verb: Verb
    private let host: HostWords
    private var options: [String] = []
    private var names: [String] = []
    private var isTerminated = false

    private init(verb: Verb, host: HostWords) {
        self.verb = verb
        self.host = host
    }

    /// The words for ArgumentParser.
    ///
    /// - Parameter words: The command line, without the name of the program.
    /// - Throws: `ToolError` where the words cannot be what macOS's tool takes.
    static func arranged(_ words: [String]) throws(ToolError) -> [String] {
        var rest = words[...]
        let host = try HostWords(&rest)
        guard let word = rest.popFirst() else {
            guard host.option == nil else { throw .hostWithoutVerb }
            return words
        }
        guard let verb = Verb(word: word) else {
            guard host.option == nil else { throw .hostWithoutVerb }
            return words
        }
        var line = CommandWords(verb: verb, host: host)
        while let word = rest.popFirst() { try line.take(word, before: &rest) }
        return try line.arranged()
    }

    private mutating func take(
        _ word: String, before rest: inout ArraySlice<String>
    ) throws(ToolError) {
        if let count = verb.wordsBeforeValue, names.count > count,
            !word.hasPrefix("--") || isTerminated || !ValueWords.isWhole(names[count...])
        {
            names.append(word)
        } else if !isTerminated, word == "--" {
            isTerminated = true
        } else if !isTerminated, word.hasPrefix("--") || (word == "-h" && names.isEmpty) {
            options.append(word)
            if verb.optionsWithValue.contains(word), let value = rest.popFirst() {
                options.append(value)
            }
        } else if verb.takesDomain, names.isEmpty {
            names.append(
                try isTerminated ? word : DomainWord(word, before: &rest).domain(on: host))
        } else {
            names.append(word)
        }
    }

    private func arranged() throws(ToolError) -> [String] {
        // A verb that was given no domain is told the host apart.
        let hostOptions = names.isEmpty || !verb.takesDomain ? host.option ?? [] : []
        return [verb.rawValue] + options + hostOptions + ["--"] + names
    }
}
