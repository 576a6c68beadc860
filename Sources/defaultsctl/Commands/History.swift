import ArgumentParser
import DefaultsClient

struct History: HistoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows what has changed, by whom, and what was there before.",
        usage: """
            defaultsctl history [<domain> [<key>]] [--since <time>] [--until <time>] [--program <program>] [--by-hand] [--find <text>] [--limit <count>] [--all] [--json | --patch]
            defaultsctl history <number> [--all] [--json | --patch]
            """,
        discussion: """
            An action is what a person would call one thing: what one program has changed at once, \
            in calls that follow each other within half a second, or by moving a slider. The newest is \
            first. Its first line shows its number, when it began, who has made it, and whether it is \
            undone. A line for each key follows, with its old and its new value; of a dictionary or an \
            array only the parts that differ. (not set) means that the key had no value of its own, so that a \
            default counts, and (unknown) that the history does not know it. 'defaultsctl undo NUMBER' takes an action back.

            A time is 10m, 2h or 3d ago, or today, yesterday, '2026-11-01 14:00', 9:30 or boot. A day \
            without a time of day means its beginning. A time that a clock has shown twice means \
            the later one.

            Without --limit and a time, the newest 20 actions are shown. --patch prints commands that make \
            the same changes: a shell can run them, or 'defaultsctl apply' makes them as one change. Of \
            several changes of a key, only the last one is printed. Exit status: 0, or 1 if there is no such action.
            """)

    @Argument(help: "The number of an action, or a domain, such as org.example.Game.")
    var domain: String?

    @Argument(help: "The key; without it, all keys of the domain.")
    var key: String?

    @OptionGroup var filter: HistoryFilterOptions

    @Flag(help: "Only what a person has changed, and not what programs store by themselves.")
    var byHand = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only keys with this text in their domain, name or values.", valueName: "text"))
    var find: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many actions at most.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Also show what an action has left as it was, and what documents own.")
    var all = false

    @Flag(help: "Print a JSON array. Values are complete.")
    var json = false

    @Flag(help: "Print commands that make the same changes.")
    var patch = false

    @OptionGroup var dates: DatesOption

    @OptionGroup var host: HostOption

    func validate() throws {
        if json, patch { throw ValidationError("--json and --patch cannot be used together.") }
        if find == "" { throw ValidationError("--find needs a text.") }
        if let limit, !(1...1_000_000).contains(limit) {
            throw ValidationError("--limit must be a number from 1 to 1000000.")
        }
        try dates.validate(isJSON: json)
    }

    func check() throws {
        _ = try filter.times
        guard let domain, case .number = try HistoryWord(domain) else { return }
        guard key == nil else { throw ToolError.keyOfAction(domain) }
        if let option = filter.firstGiven ?? firstGiven {
            throw ToolError.optionOfList(option, domain)
        }
    }

    /// The first option that was given of those that choose actions.
    private var firstGiven: String? {
        if byHand { return "--by-hand" }
        if find != nil { return "--find" }
        return limit != nil ? "--limit" : nil
    }

    func run(withHistoryOf defaults: RemoteDefaults) async throws {
        if let domain, case .number(let number) = try HistoryWord(domain) {
            return try await show(number, defaults)
        }
        let scope = try await HistoryScope(domain: domain, key: key, asking: defaults)
        var query = scope.query
        (query.since, query.until) = try filter.times
        query.program = filter.program
        let isOpen = query.since == nil && query.until == nil
        let listing = try await HistoryListing(
            query, of: scope, atMost: limit ?? (isOpen ? Self.standardLimit : nil),
            choosing: HistoryChoice(
                hasAll: all, isByHand: byHand, text: find, isShort: !json && !patch),
            asking: defaults)
        guard !listing.actions.isEmpty || json || patch else {
            throw NothingInHistory(
                reason: .noActions(
                    scope, with: find, by: filter.program, listing.knownFrom))
        }
        try await print(listing.actions, defaults)
        guard !json, !patch else {
            // A program that reads it should not take a part for the whole.
            if listing.isCut, limit == nil { Complaint.say(Self.cut) }
            return
        }
        if listing.isCut {
            try SafeOutput.print(Self.cut)
        } else if query.since.map({ $0 <= listing.knownFrom }) ?? true {
            try SafeOutput.print(HistoryWords.complete(from: listing.knownFrom, of: "The history"))
        }
    }

    /// How many actions are shown if neither a number nor a time is given.
    private static let standardLimit = 20
    private static let cut = "Older actions are not shown: see --limit and --since."

    /// Shows one action.
    private func show(_ number: UInt64, _ defaults: RemoteDefaults) async throws {
        do {
            let (action, changes) = try await defaults.action(number)
            // If all of it is void, that is what was asked for.
            let shown =
                ShownAction(action, changes, in: .everything, choosing: HistoryChoice(hasAll: all))
                ?? ShownAction(
                    action, changes, in: .everything, choosing: HistoryChoice(hasAll: true))
            try await print([shown].compactMap(\.self), defaults)
        } catch let error as DefaultsError where error.code == .notFound {
            throw ToolError.noAction(number)
        }
    }

    private func print(_ actions: [ShownAction], _ defaults: RemoteDefaults) async throws {
        if json || patch {
            var filled: [ShownAction] = []
            for action in actions { filled.append(try await action.filled(by: defaults)) }
            if json {
                let objects = try filled.map { try $0.json(hasISODates: dates.isoDates) }
                return try SafeOutput.print(json: "[\(objects.joined(separator: ","))]")
            }
            for line in HistoryPatch(of: filled).lines { try SafeOutput.print(line) }
            return
        }
        let isTerminal = Defaultsctl.console.isTerminal(.output)
        let columns = isTerminal ? Defaultsctl.console.columns(of: .output) : nil
        for action in actions {
            try SafeOutput.print(action.lines(columns: columns).joined(separator: "\n"))
        }
    }
}

extension History: ArrangedVerb {
    static var optionsWithValue: Set<String> {
        ["--since", "--until", "--program", "--find", "--limit"]
    }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .written }
}

/// Which actions are meant.
struct HistoryFilterOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only what has changed at this time or later.", valueName: "time"))
    var since: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only what has changed at this time or before it.", valueName: "time"))
    var until: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only what this program has changed.", valueName: "program"))
    var program: String?

    /// The times in seconds since 1970; nil for those that are not given.
    var times: (since: Int64?, until: Int64?) {
        get throws(ToolError) {
            let since = try Self.seconds(since, of: "--since")
            let until = try Self.seconds(until, of: "--until")
            if let since, let until, until < since { throw .timesInWrongOrder }
            return (since, until)
        }
    }

    private static func seconds(_ words: String?, of option: String) throws(ToolError) -> Int64? {
        guard let words else { return nil }
        return try PastTime(words, of: option).seconds
    }

    /// The first one that was given.
    var firstGiven: String? {
        if since != nil { return "--since" }
        if until != nil { return "--until" }
        return program != nil ? "--program" : nil
    }

    func validate() throws {
        // An empty name would mean all programs.
        if program == "" { throw ValidationError("--program needs the name of a program.") }
    }
}
