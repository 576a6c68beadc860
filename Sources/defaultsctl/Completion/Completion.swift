/// The words that may come next on a command line of the tool.
struct Completion {
    let tool: CommandOutline
    /// Where the names of domains and keys come from.
    let names: any CompletionNames
    /// What the installed schemas offer besides.
    let schemas = SchemaCandidates()
    /// The verbs for which a key that has no value yet is useful.
    private static let verbsWithSchemas: Set<String> = [Write.verb, Explain.verb, Watch.verb]

    /// The verbs that take the number of an action in place of a domain.
    private static let verbsWithNumbers: Set<String> = [History.verb, Undo.verb]

    /// What may come next: some words, or the name of a file, which a shell can complete itself.
    enum Next {
        case words([Candidate])
        case file
    }

    /// The candidates for the word that is being typed, in the order in which they are shown.
    ///
    /// - Parameters:
    ///   - words: The words before it, without the program's name.
    ///   - current: The part of the word that is already typed.
    func next(after words: [String], current: String) async -> Next {
        let line = TypedLine(words, of: tool)
        let isOption = current.hasPrefix("-") && !line.isLiteral
        if line.pending?.valueName == "file" || line.pending == nil && slot(of: line) == "file" {
            if !isOption { return .file }
        }
        let all = await candidates(for: line, current: current, isOption: isOption)
        return .words(all.filter { $0.word.hasPrefix(current) })
    }

    private func candidates(
        for line: TypedLine, current: String, isOption: Bool
    ) async -> [Candidate] {
        if line.isHostPending { return await names.hosts() }
        if let option = line.pending { return await values(of: option) }
        return await (isOption ? options(of: line) : []) + positions(of: line, current: current)
    }

    private func values(of option: CommandOutline.Argument) async -> [Candidate] {
        switch option.valueName {
        case "time": PastTime.examples.map { Candidate(word: $0) }
        case "program": await names.programs()
        default: (option.allValues ?? []).map { Candidate(word: $0) }
        }
    }

    private func options(of line: TypedLine) -> [Candidate] {
        var candidates = line.command.options.map {
            Candidate(word: $0.spellings.last ?? "", note: $0.abstract ?? "")
        }
        if !line.hasVerb { candidates += HostWords.spellings.map { Candidate(word: $0) } }
        if line.positions.isEmpty, line.command.positions.first?.valueName == "domain" {
            candidates += (TypedLine.globalDomains + [TypedLine.application]).map {
                Candidate(word: $0)
            }
        }
        return candidates
    }

    private func positions(of line: TypedLine, current: String) async -> [Candidate] {
        let verbs = line.command.commandName == "help" ? verbs(after: line) : line.command.verbs
        if !verbs.isEmpty {
            return verbs.map { Candidate(word: $0.commandName, note: $0.abstract ?? "") }
        }
        switch slot(of: line) {
        case "domain"
        where Self.verbsWithNumbers.contains(line.command.commandName)
            && current.first?.isNumber == true:
            return await names.actions(isRedo: false)
        case "number": return await names.actions(isRedo: true)
        case "domain":
            let known = await names.domains(of: line.domains)
            let added = usesSchemas(line) ? schemas.domains(continuing: current) : []
            return (known + added.filter { !known.contains($0) }).map { Candidate(word: $0) }
        case "key", "old-key": return await keys(for: line)
        case "backup": return await names.backups()
        case "owner": return await names.owners()
        case "value": return values(for: line)
        default: return []
        }
    }

    /// The verbs whose help may be asked for next.
    private func verbs(after line: TypedLine) -> [CommandOutline] {
        line.positions.reduce(tool.verbs) { verbs, word in
            verbs.first { $0.commandName == word }?.verbs ?? []
        }.filter { $0.commandName != "help" }
    }

    private func usesSchemas(_ line: TypedLine) -> Bool {
        Self.verbsWithSchemas.contains(line.command.commandName)
    }

    /// The keys that exist and those of schemas, in one order.
    private func keys(for line: TypedLine) async -> [Candidate] {
        let domain = line.positions.first ?? ""
        let known = await names.keys(in: domain, of: line.domains)
        let described = usesSchemas(line) ? schemas.keys(in: domain) : []
        guard !described.isEmpty else { return known.map { Candidate(word: $0) } }
        var candidates = Dictionary(known.map { ($0, Candidate(word: $0)) }) { first, _ in first }
        for candidate in described { candidates[candidate.word] = candidate }
        return candidates.values.sorted { $0.word < $1.word }
    }

    /// The words that a schema allows for the key, and the flags of types.
    private func values(for line: TypedLine) -> [Candidate] {
        let words = Array(line.positions.dropFirst(2))
        let flags = TypeFlag.candidates(after: words)
        guard line.positions.count >= 2, words.isEmpty || words == [TypeFlag.string.rawValue] else {
            return flags
        }
        return schemas.values(of: line.positions[1], in: line.positions[0]) + flags
    }

    /// The name of the next argument in the command's help.
    ///
    /// All further words count as the last argument.
    private func slot(of line: TypedLine) -> String? {
        let positions = line.command.positions
        let place = min(line.positions.count, positions.count - 1)
        return place >= 0 ? positions[place].valueName : nil
    }
}

/// A word that may come next, and its meaning.
struct Candidate: Equatable {
    let word: String
    /// The meaning in a few words; empty if the word is clear.
    var note = ""

    /// A line for the completion scripts, which split it at the tab.
    ///
    /// Nil for a word that does not fit on one line.
    var line: String? {
        guard !word.contains(where: \.isNewline), !word.contains("\t") else { return nil }
        return note.isEmpty ? word : "\(word)\t\(note.onOneLine)"
    }
}

/// The type flags of `write`, for completion.
extension TypeFlag {
    /// The candidates for the next word of a value.
    static func candidates(after words: [String]) -> [Candidate] {
        guard let word = words.last else {
            return shown.map { Candidate(word: $0.rawValue, note: $0.note) }
        }
        switch TypeFlag(rawValue: word) {
        case .bool, .boolean: return ["true", "false"].map { Candidate(word: $0) }
        case let flag? where !flag.isComposite: return []
        default:
            // The elements of an array or a dictionary have their own types.
            let isComposite = words.first.flatMap(TypeFlag.init)?.isComposite ?? false
            return isComposite ? candidates(after: []).filter { !$0.word.isComposite } : []
        }
    }

    /// The flags without alternative spellings.
    private static let shown: [TypeFlag] = [
        .string, .int, .float, .bool, .data, .date, .array, .arrayAdd, .dict, .dictAdd,
    ]

    private var note: String {
        switch self {
        case .string: "a string"
        case .int, .integer: "an integer"
        case .float: "a real number"
        case .bool, .boolean: "true or false"
        case .data: "bytes, in hexadecimal digits"
        case .date: "a date, such as 2024-02-29"
        case .array: "an array of the values that follow"
        case .arrayAdd: "more elements for the existing array"
        case .dict: "a dictionary of keys and values in turn"
        case .dictAdd: "more entries for the existing dictionary"
        }
    }
}

extension String {
    fileprivate var isComposite: Bool { TypeFlag(rawValue: self)?.isComposite ?? false }
}
