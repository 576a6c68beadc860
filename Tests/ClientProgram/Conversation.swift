import DefaultsClient
import Glibc

/// What a test tells the program to do, line by line, until the end of standard input.
///
/// Each command is answered by a line that begins with `=`. What comes of itself, as a change that is
/// watched, is a line that begins with `~`.
struct Conversation {
    let defaults: Defaults
    private var observation: DefaultsObservation?
    private var iterators: [String: ValueChanges<Int>.AsyncIterator] = [:]

    init(of domain: String) {
        defaults = Defaults(domain: domain, on: Program.bus)
        // Reports before the first command, and by any command.
        let failures = defaults.failures
        Task {
            for await failure in failures {
                let keys = failure.keys.joined(separator: ",")
                Self.tell("failure \(failure.action) \(failure.domain) \(keys)")
            }
        }
    }

    static func tell(_ event: String) { say("~ \(event)") }

    mutating func go() async {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do {
                say("= \(try await answer(words[0], Array(words.dropFirst())))")
            } catch {
                say("= error \(Self.code(of: error))")
            }
        }
    }

    /// The error's code, and its name if it has none.
    private static func code(of error: any Error) -> String {
        guard let code = (error as? DefaultsError)?.code else { return "\(error)" }
        let names: [DefaultsError.Code: String] = [
            .conflict: "conflict", .forked: "forked", .locked: "locked",
            .notWritable: "notWritable",
            .tooManyChanges: "tooManyChanges", .unreachable: "unreachable",
        ]
        return names[code] ?? "\(error)"
    }

    private mutating func answer(_ command: String, _ words: [String]) async throws -> String {
        if let answer = try reading(command, words) { return answer }
        if let answer = try await writing(command, words) { return answer }
        if let answer = await watching(command, words) { return answer }
        if let answer = Self.misusing(command, words) { return answer }
        stop("No such command: \(command)")
    }

    // MARK: Bad manners

    /// Commands that do what an application should not.
    private static func misusing(_ command: String, _ words: [String]) -> String? {
        guard command == "close-all" else { return nil }
        // As daemons do when they begin, whoever has opened them; then files of its own take the numbers.
        for number in 3..<Int32(256) { close(number) }
        for _ in 0..<(Int(words[1]) ?? 0) { _ = open(words[0], O_RDWR | O_CREAT, 0o600) }
        return "done"
    }

    // MARK: Slow consumers

    /// Commands about a sequence whose elements are fetched when the test says so.
    private mutating func watching(_ command: String, _ words: [String]) async -> String? {
        switch command {
        case "watch":
            let changes = defaults.changes(of: .number(words[0]))
            Task { for await change in changes { Self.tell(Self.told(change)) } }
        case "observe-text":
            observation = defaults.observe(.text(words[0])) { change in
                Self.tell("text \(change.newValue.utf8.count)")
            }
        case "watch-and-set":
            // An observer that writes what it was told.
            let (key, other) = (DefaultsKey<Int>.number(words[0]), words[1])
            let (changes, defaults) = (defaults.changes(of: key), defaults)
            Task {
                for await change in changes {
                    defaults[key] = change.newValue
                    defaults[.number(other)] += 1
                    Self.tell(Self.told(change))
                }
            }
        case "watch-all":
            let changes = defaults.changes()
            Task {
                for await change in changes {
                    let layer = change.layer.map { "\($0)" } ?? "none"
                    Self.tell(
                        "changed \(change.key) \(layer) \(change.isFromThisProcess ? "own" : "foreign")"
                    )
                }
            }
        case "hold":
            iterators[words[0]] = defaults.changes(of: .number(words[0])).makeAsyncIterator()
        case "next":
            return await iterators[words[0]]?.next().map(Self.told) ?? "none"
        default:
            return nil
        }
        return "watching"
    }

    private static func told(_ change: ValueChange<Int>) -> String {
        let old = change.oldValue.map { "\($0)" } ?? "nil"
        return "change \(old) \(change.newValue) \(change.isFromThisProcess ? "own" : "foreign")"
    }
}
