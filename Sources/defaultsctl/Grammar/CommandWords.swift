/// The words of a command line in the form of macOS's `defaults`, arranged so that none can be
/// mistaken for another: the verb, our own options, `--`, and then all names and values.
///
/// 1. The host options of macOS come before the verb, and ours also after it. They become the
///    suffix of the domain.
/// 2. Before `--`, a word that begins with two hyphens is an option of ours, also among the words
///    of a value. An unknown option is refused, so that a mistyped one is never stored. The meaning
///    of all other words depends on their position.
struct CommandWords {
    private let verb: any ArrangedVerb.Type
    private var host: HostWords
    private var options: [String] = []
    private var names: [String] = []
    private var isTerminated = false

    private init(verb: any ArrangedVerb.Type, host: HostWords) {
        self.verb = verb
        self.host = host
    }

    /// The words for ArgumentParser.
    ///
    /// - Parameter words: The command line, without the name of the program.
    /// - Throws: `ToolError` if the words are not a valid command line.
    static func arranged(_ words: [String]) throws(ToolError) -> [String] {
        var rest = words[...]
        let host = try HostWords(&rest)
        guard let word = rest.popFirst() else {
            guard host.option == nil else { throw .hostWithoutVerb }
            return words
        }
        guard let verb = Defaultsctl.arrangedVerb(word) else {
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
        if !isTerminated, word == "--" {
            isTerminated = true
        } else if !isTerminated, word.hasPrefix("--") || (word == "-h" && names.isEmpty) {
            try takeOption(word, before: &rest)
        } else if !isTerminated, names.isEmpty, HostWords.spellings.contains(word) {
            _ = try host.take(word, before: &rest)
        } else if !isTerminated, verb.shortFlags.contains(word) {
            options.append(word)
        } else if verb.takesDomain, names.isEmpty, !isTerminated {
            let domain = try DomainWord(word, before: &rest, mayBeFile: verb.takesFile)
            if domain.isOfThisHost { try host.chooseCurrent() }
            names.append(domain.name)
        } else {
            names.append(word)
        }
    }

    private mutating func takeOption(
        _ word: String, before rest: inout ArraySlice<String>
    ) throws(ToolError) {
        if try host.take(word, before: &rest) { return }
        let name = String(word.prefix { $0 != "=" })
        if let known = verb.allOptions, name.hasPrefix("--"), !known.contains(name) {
            throw .unknownOption(word, of: verb, meant: Spelling.nearest(to: name, among: known))
        }
        guard verb.optionsWithValue.contains(name) else { return options.append(word) }
        let joined = word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
        guard let value = joined ?? rest.popFirst() else {
            throw .optionWithoutValue(word, of: verb)
        }
        // The option and its value are one word, so that a value that looks like an option is not
        // mistaken for one. But ArgumentParser does not accept an empty value after the equals
        // sign.
        options += value.isEmpty ? [name, value] : ["\(name)=\(value)"]
    }

    private func arranged() throws(ToolError) -> [String] {
        var (options, names) = (options, names)
        if verb.takesFile, names.count == 1, host.option != nil { throw .hostOfFile }
        if verb.takesDomain, let domain = names.first {
            names[0] = try host.layer(of: domain)
        } else if let option = host.option {
            // A verb without a domain gets the host as a separate option.
            guard verb.takesHostAlone else { throw .hostWithoutDomain(verb) }
            options += option
        }
        return [verb.verb] + options + ["--"] + names
    }
}
