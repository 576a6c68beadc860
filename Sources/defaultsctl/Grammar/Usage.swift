import ArgumentParser

/// The usage of a verb, which follows an error in its command line.
enum Usage {
    /// The lines; none where the words name no verb.
    static func lines(of words: [String]) -> [String] {
        guard let command = command(of: words) else { return [] }
        let text = Defaultsctl.usageString(for: command)
        return text.split(separator: "\n").map(String.init)
    }

    /// The command of the verb, and of a verb of its own after that.
    private static func command(of words: [String]) -> (any ParsableCommand.Type)? {
        var rest = words[...]
        _ = try? HostWords(&rest)
        guard let word = rest.popFirst() else { return nil }
        let name = Defaultsctl.macVerb(word)?.verb ?? word
        guard let command = find(name, in: Defaultsctl.self) else { return nil }
        return rest.first.flatMap { find($0, in: command) } ?? command
    }

    private static func find(
        _ name: String, in command: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first { $0._commandName == name }
    }
}
