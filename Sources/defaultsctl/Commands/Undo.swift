import ArgumentParser
import DefaultsClient

struct Undo: HistoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Takes back what was changed.",
        usage: """
            defaultsctl undo [<number>] [--partial] [--force] [--dry-run] [--yes]
            defaultsctl undo <domain> [<key>] [--to <time>] [--partial] [--force] [--dry-run] [--yes]
            defaultsctl undo --since <time> [--program <program>] [--partial] [--force] [--dry-run] [--yes]
            """,
        discussion: """
            Without words, it takes back the newest action that a person has made and that is not taken \
            back yet. So doing it again goes further back. Changes by programs that store something by themselves, by \
            other machines and by restored backups are passed over, and named. With the number that 'defaultsctl \
            history' shows, it takes back that action. With a domain, or a domain and a key, it takes back \
            the last change of them, and with --to everything since then, so that each key gets the value \
            that it had. With --since, it takes back what a person has changed since then, and with \
            --program what that program has.

            First it prints the values that the keys have now, and those that they get. Then it asks. Without a \
            terminal, it needs --yes. If a key was changed since, is locked, or had a value that the history does not \
            know, nothing is changed, and it is named. All is one change, which 'defaultsctl redo' \
            makes again. Times are those of 'defaultsctl history'. Exit status: 0, or 1 if nothing was \
            changed.
            """)

    @Argument(help: "The number of an action, or a domain, such as org.example.Game.")
    var domain: String?

    @Argument(help: "The key; without it, all keys of the domain.")
    var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time to which the domain or the key goes back.", valueName: "time"))
    var to: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Take back what a person has changed since this time.", valueName: "time"))
    var since: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Take back only what this program has changed.", valueName: "program"))
    var program: String?

    @OptionGroup var flags: TakingBackFlags

    @OptionGroup var host: HostOption

    func validate() throws {
        if to != nil, since != nil {
            throw ValidationError("--to and --since mean the same. Give one of them.")
        }
        if program == "" { throw ValidationError("--program needs the name of a program.") }
    }

    func check() throws {
        let hasTime = try time != nil
        if program != nil, !hasTime { throw ToolError.programWithoutTime }
        guard let domain, case .number = try HistoryWord(domain) else { return }
        if let key {
            guard case .number = try HistoryWord(key) else { throw ToolError.keyOfAction(domain) }
            throw ToolError.severalNumbers([domain, key])
        }
        if hasTime { throw ToolError.optionOfList(to != nil ? "--to" : "--since", domain) }
    }

    func run(withHistoryOf defaults: RemoteDefaults) async throws {
        let search = TargetSearch(defaults: defaults)
        try await TakingBack(flags: flags, defaults: defaults).run(target(by: search))
    }

    private func target(by search: TargetSearch) async throws -> TakingBackTarget {
        if let domain, case .number(let number) = try HistoryWord(domain) {
            return try await search.action(number)
        }
        let scope = try await HistoryScope(domain: domain, key: key, asking: search.defaults)
        if let time = try time {
            return try await search.actions(since: time, by: program, in: scope)
        }
        return domain == nil
            ? try await search.newestByHand() : try await search.newest(in: scope)
    }

    /// The time to which it goes back, in seconds since 1970; nil if none is given.
    private var time: Int64? {
        get throws(ToolError) {
            if let to { return try PastTime(to, of: "--to").seconds }
            guard let since else { return nil }
            return try PastTime(since, of: "--since").seconds
        }
    }
}

extension Undo: ArrangedVerb {
    static var optionsWithValue: Set<String> { ["--to", "--since", "--program"] }
}
