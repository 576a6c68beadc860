import ArgumentParser

/// Finds the command for the words of a command line.
extension Defaultsctl {
    /// The command for the words after the program's name.
    static func command(_ words: [String]) throws -> any ParsableCommand {
        if let word = words.first, !word.hasPrefix("-"), arrangedVerb(word) == nil,
            !verbs.contains(word)
        {
            throw ValidationError(noVerb(word, among: verbs))
        }
        try refuseOtherHyphens(words)
        try refuseVerbAlone(words)
        let words = try arranged(words)
        guard !words.prefix(while: { $0 != "--" }).contains(where: asksForScript) else {
            throw ToolError.noCompletionScript
        }
        let (head, values) = Self.parted(words)
        var command = try parsed(head)
        if var write = command as? Write {
            write.words = values
            command = write
        }
        return command
    }

    /// The words in the order for ArgumentParser, with the names of domains that are spelled otherwise.
    private static func arranged(_ words: [String]) throws(ToolError) -> [String] {
        guard let verb = words.first, verbsWithLaterDomains.contains(verb) else {
            return try CommandWords.arranged(words)
        }
        return try DomainWord.replacingFlags(in: words, exceptAfter: ["--only", "--except"])
    }

    /// The verbs whose domains come after other words.
    private static let verbsWithLaterDomains = Set(
        [
            Grant.self, Revoke.self, BackupCommands.self, RoamCommands.self,
        ].map { ($0 as any ParsableCommand.Type)._commandName })

    /// Separates the words of a value from the others.
    ///
    /// ArgumentParser needs time for them that grows with the square of their number, and does not
    /// have to see them.
    private static func parted(_ words: [String]) -> (head: [String], values: [String]) {
        guard words.first == Write.verb, let end = words.firstIndex(of: "--"),
            words.count > end + 3
        else { return (words, []) }
        return (Array(words[..<(end + 3)]), Array(words[(end + 3)...]))
    }

    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
        // Parsing only the verb is much faster than parsing with all of them. If the verb does not
        // accept the words, all of them are tried for the error message.
        let verb = words.first.flatMap(subcommand)
        let asksForHelp = words.contains { ["help", "-h", "--help"].contains($0) }
        if !asksForHelp, let command = try? verb?.parseAsRoot(Array(words.dropFirst())) {
            return command
        }
        return try parseAsRoot(words)
    }

    /// The command with a name; nil if there is none.
    static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }

    private static let verbs: [String] =
        configuration.subcommands.map { $0._commandName } + ["help"]

    /// The verbs that a verb needs after it; nil if it needs none.
    private static func secondVerbs(of verb: String?) -> [String]? {
        let verbs = verb.flatMap(subcommand)?.configuration.subcommands.map { $0._commandName }
        return verbs?.isEmpty == false ? verbs : nil
    }

    /// Refuses a mistyped option before the verb.
    ///
    /// ArgumentParser might take it for several options of one letter.
    private static func refuseOtherHyphens(_ words: [String]) throws {
        guard let word = words.first, word.hasPrefix("-"), !word.hasPrefix("--"), word != "-h",
            !HostWords.spellings.contains(word)
        else { return }
        let meant = Spelling.nearest(to: word, among: HostWords.spellings)
        throw ValidationError(
            "There is no option '\(word.onOneLine)'."
                + (meant.map { " Did you mean '\($0)'?" } ?? ""))
    }

    /// Refuses words for which ArgumentParser would print a page of help, as if nothing were wrong.
    private static func refuseVerbAlone(_ words: [String]) throws {
        if let group = words.first, let seconds = secondVerbs(of: group) {
            guard let verb = words.dropFirst().first else {
                throw ValidationError("\(group) needs a second verb: \(listed(seconds, "or")).")
            }
            guard verb.hasPrefix("-") || seconds.contains(verb) else {
                throw ValidationError(
                    "\(group) has no verb '\(verb.inBrief)'." + suggestion(verb, among: seconds)
                        + " Its verbs are \(listed(seconds, "and")).")
            }
        }
        guard words.first == "help", let verb = words.dropFirst().first else { return }
        if verb.hasPrefix("-") { return }
        guard verbs.contains(verb) else { throw ValidationError(noVerb(verb, among: verbs)) }
        if let seconds = secondVerbs(of: verb), let verb = words.dropFirst(2).first,
            !seconds.contains(verb)
        {
            throw ValidationError(noVerb(verb, among: seconds))
        }
    }

    /// Words with commas between them, and a conjunction before the last one.
    private static func listed(_ words: [String], _ conjunction: String) -> String {
        words.dropLast().joined(separator: ", ") + " \(conjunction) \(words.last ?? "")"
    }

    /// Whether a word is ArgumentParser's own option for a completion script, which would not
    /// complete domains and keys.
    private static func asksForScript(_ word: String) -> Bool {
        word == "--generate-completion-script" || word.hasPrefix("--generate-completion-script=")
    }

    private static func noVerb(_ word: String, among verbs: [String]) -> String {
        if let answer = ForeignVerb.answer(to: word) { return answer }
        return "There is no verb '\(word.inBrief)'." + suggestion(word, among: verbs)
    }

    private static func suggestion(_ word: String, among verbs: [String]) -> String {
        Spelling.nearest(to: word, among: verbs).map { " Did you mean '\($0)'?" } ?? ""
    }
}

/// Verbs of other tools for what this tool does: gsettings, dconf, xfconf-query, git.
enum ForeignVerb {
    private static let lines: [String: String] = [
        "get": "read DOMAIN KEY", "show": "read DOMAIN KEY", "print": "read DOMAIN KEY",
        "cat": "read DOMAIN", "list-recursively": "read DOMAIN", "query": "read DOMAIN KEY",
        "set": "write DOMAIN KEY VALUE", "put": "write DOMAIN KEY VALUE",
        "add": "write DOMAIN KEY VALUE", "list": "domains", "ls": "domains",
        "list-schemas": "domains", "list-keys": "keys DOMAIN", "list-children": "keys DOMAIN",
        "unset": "delete DOMAIN KEY", "reset": "delete DOMAIN KEY", "rm": "delete DOMAIN KEY",
        "reset-recursively": "delete DOMAIN", "clear": "delete DOMAIN",
        "mv": "rename DOMAIN KEY NEW-KEY", "move": "rename DOMAIN KEY NEW-KEY",
        "dump": "export DOMAIN -", "save": "export DOMAIN FILE", "load": "import DOMAIN FILE",
        "restore": "backup restore latest", "monitor": "watch DOMAIN", "log": "history DOMAIN",
        "revert": "undo NUMBER", "follow": "watch DOMAIN",
        "search": "find WORD", "grep": "find WORD", "describe": "explain DOMAIN KEY",
        "writable": "locked DOMAIN KEY", "is-writable": "locked DOMAIN KEY",
        "check": "doctor", "validate": "lint", "type": "read-type DOMAIN KEY",
        "edit": "write DOMAIN KEY VALUE", "wipe": "factory-reset", "reset-all": "factory-reset",
    ]

    /// The message for such a verb, with the command line that does the same here.
    static func answer(to word: String) -> String? {
        guard let line = lines[word.lowercased()] else { return nil }
        let verb = line.prefix { $0 != " " }
        return "'\(word.inBrief)' is '\(verb)' here: defaultsctl \(line)"
    }
}

/// The usage of a verb, which follows an error in its command line.
enum Usage {
    /// The lines; empty if the words have no verb.
    static func lines(of words: [String]) -> [String] {
        guard let command = command(of: words) else { return [] }
        let text = Defaultsctl.usageString(for: command)
        return text.split(separator: "\n").map(String.init)
    }

    /// The command of the verb, and of its second verb.
    private static func command(of words: [String]) -> (any ParsableCommand.Type)? {
        var rest = words[...]
        _ = try? HostWords(&rest)
        guard let word = rest.popFirst() else { return nil }
        let name = Defaultsctl.arrangedVerb(word)?.verb ?? word
        guard let command = find(name, in: Defaultsctl.self) else { return nil }
        return rest.first.flatMap { find($0, in: command) } ?? command
    }

    private static func find(
        _ name: String, in command: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first { $0._commandName == name }
    }
}
