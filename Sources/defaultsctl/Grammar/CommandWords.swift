/// The words of a command line in the form of macOS's `defaults`, arranged so that none can be
/// mistaken for another: the verb, our own options, `--`, and then all names and values.
///
/// 1. The host options of macOS come before the verb, and ours also after it. They become the
///    suffix of the domain.
/// 2. Before `--`, a word that begins with two hyphens is an option of ours. An unknown option is
///    refused, so that a mistyped one is never stored. The meaning of all other words depends on their
///    position.
/// 3. A word after the type of a value is a value, whatever it begins with. The types of collections
///    take all words after them.
/// 4. Directly after `--`, the first word of a value is not a type, and may begin with a hyphen.
/// 5. A host option of macOS after the domain is refused, because it would be a key or a value.
struct CommandWords {
    private let verb: any ArrangedVerb.Type
    private var host: HostWords
    private var options: [String] = []
    private var names: [String] = []
    private var isTerminated = false

    /// The domain and the key.
    private static let namesBeforeValue = 2

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
            // (4)
            if verb == Write.self, names.count == Self.namesBeforeValue,
                rest.first.map(TypeFlag.isLike(_:)) ?? false
            {
                names.append(TypeFlag.string.rawValue)
            }
        } else if !isTerminated, word.hasPrefix("--") || (word == "-h" && names.isEmpty) {
            try takeOption(word, before: &rest)
        } else if !isTerminated, names.isEmpty, HostWords.spellings.contains(word) {
            _ = try host.take(word, before: &rest)
        } else if !isTerminated, HostWords.spellings.contains(word) {
            // (5)
            throw .hostTooLate(word, verb)
        } else if !isTerminated, verb.shortFlags.contains(word) {
            options.append(word)
        } else if verb.takesDomain, names.isEmpty, !verb.takesFile || DomainWord.isFlag(word) {
            try take(
                DomainWord(
                    word, before: &rest, mayHaveHyphen: isTerminated && !verb.makesDomains))
        } else {
            names.append(word)
            if verb.takesValue, !isTerminated, names.count == 3 { takeValue(of: word, &rest) }
        }
    }

    private mutating func take(_ domain: DomainWord) throws(ToolError) {
        if domain.isOfThisHost { try host.chooseCurrent() }
        names.append(domain.name)
    }

    /// Takes the words of a value after the word for its type, if that is one.
    private mutating func takeValue(of type: String, _ rest: inout ArraySlice<String>) {
        guard let type = TypeFlag(rawValue: type) else { return }
        // Before further words, -- is not a value itself.
        if !type.isComposite, rest.first != "--" || rest.count == 1 {
            names += rest.prefix(1)
            rest = rest.dropFirst()
        } else if type.isComposite {
            let end = rest.firstIndex(of: "--")
            let elements = rest[..<(end ?? rest.endIndex)]
            remark(onOptionIn: elements, of: type)
            names += elements
            names += end.map { rest[($0 + 1)...] } ?? []
            rest = []
        }
    }

    /// Says that a word that is spelled like an option of ours is a value.
    ///
    /// After the type of an element, it can only be meant as one.
    private func remark(onOptionIn elements: ArraySlice<String>, of type: TypeFlag) {
        let place = elements.indices.first { place in
            verb.allOptions?.contains(elements[place]) == true
                && (place == elements.startIndex || TypeFlag(rawValue: elements[place - 1]) == nil)
        }
        guard let place else { return }
        Complaint.sayOnce(
            "'\(elements[place])' is stored as a value, because it comes after \(type.rawValue). An "
                + "option comes before the domain.")
    }

    private mutating func takeOption(
        _ word: String, before rest: inout ArraySlice<String>
    ) throws(ToolError) {
        if try host.take(word, before: &rest) { return }
        let name = String(word.prefix { $0 != "=" })
        if verb == Import.self, name == "--all" { throw .importOfAll }
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

    private mutating func arranged() throws(ToolError) -> [String] {
        if verb.takesFile, names.count == 1, host.option != nil { throw .hostOfFile }
        if verb.takesFile, names.count > 1 {
            // With a key, the first word is a domain and not a file.
            let rest = names.dropFirst()
            let domain = try DomainWord(names[0], mayHaveHyphen: true)
            names = []
            try take(domain)
            names += rest
        }
        var (options, names) = (options, names)
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
