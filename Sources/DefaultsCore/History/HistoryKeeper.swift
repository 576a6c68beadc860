import class DBus.EventLoop
import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
import DefaultsTerms
import Logging

/// What the history is to know about changes, and what of them it keeps.
package final class HistoryKeeper {
    /// The application of a program in a sandbox that is not known.
    private static let unknownApplication = "unknown"
    /// How long after an undo or redo a change may come that only answers it, in milliseconds.
    private static let longestAnswer: Int64 = 500
    /// The tool of this project: a script may take back and write at once.
    private static let tool = "defaultsctl"

    private let policies: Policies
    private let bounds: OptionKeeper<HistoryOption>
    private let writers: WriterLog
    private let loop: EventLoop
    private let logger: Logger
    /// The present time in seconds since 1970.
    private let date: () -> Int
    /// When the daemon began, by the clock that also passes while the machine is suspended.
    private let start: ContinuousClock.Instant
    /// The rules as they are set; nil before they are read.
    private var known: HistoryRules?
    /// The keys whose values were ignored, as the log has reported.
    private var ignored: Set<String> = []
    /// How many calls wait for the writer's thread, which reads the history.
    private var reads = 0
    /// The last actions, with which changes may go on.
    private var joining = ActionJoining()
    /// What was last taken back or done again.
    private var lastTakingBack: TakingBack?

    /// What was taken back or done again.
    private struct TakingBack {
        let instant: Int64
        let domains: Set<Domain>
        /// Who had made the actions.
        let authors: Set<ChangeAuthor>
        /// The program that has taken them back.
        let program: WriteRates.Program
    }

    init(
        by policies: Policies, of writers: WriterLog, on loop: EventLoop,
        date: @escaping () -> Int, logger: Logger
    ) {
        self.policies = policies
        bounds = OptionKeeper(by: policies, logger: logger)
        self.writers = writers
        self.loop = loop
        self.date = date
        self.logger = logger
        start = loop.continuousNow
    }

    // MARK: Notes

    /// The note of a change.
    ///
    /// - Parameters:
    ///   - change: What changes in each domain.
    ///   - caller: Who makes it. Its program was looked up.
    ///   - options: On whose behalf, and what it takes back.
    func note(
        of change: [ChangeProposal], by caller: Caller, _ options: ChangeOptions
    ) -> ChangeNote {
        var author = ChangeAuthor(
            program: writers.program(of: caller.origin),
            application: caller.isConfined ? caller.application ?? Self.unknownApplication : "")
        var kind = HistoryTerms.Kind.change
        if let sponsor = options.sponsor, !caller.isConfined {
            (kind, author.machine, author.owner) = (sponsor.kind, sponsor.machine, sponsor.owner)
        }
        var references: [Generation] = []
        if let takingBack = options.takingBack {
            (kind, references) = (takingBack.isRedo ? .redo : .undo, takingBack.references)
        }
        if kind == .change, isAnswer(change, by: author, caller) { kind = .answer }
        var note = ChangeNote(
            author: author, kind: kind, time: Int64(date()), references: references)
        note.action = joining.action(of: change, note, by: caller.program, at: instant)
        return note
    }

    /// The note of the changes of a restoration.
    func noteOfRestoration(by origin: String) -> ChangeNote {
        ChangeNote(
            author: ChangeAuthor(program: writers.program(of: origin)), kind: .restore,
            time: Int64(date()))
    }

    /// The note of a change that the service makes by itself.
    func noteOfService() -> ChangeNote {
        ChangeNote(author: .service, time: Int64(date()))
    }

    /// Takes note of a change that was made.
    ///
    /// - Parameters:
    ///   - change: What has changed in each domain.
    ///   - generation: The generation of the change.
    ///   - program: The program that has made it; nil if no call has requested it.
    func note(
        _ change: [ChangeProposal], at generation: Generation, by program: WriteRates.Program?
    ) {
        guard let note = change.first?.note else { return }
        joining.note(change, note, at: generation, by: program, at: instant)
    }

    /// Takes note of what was taken back.
    func note(
        _ actions: ChangeOptions.TakenBackActions, in change: [ChangeProposal], by caller: Caller
    ) {
        lastTakingBack = TakingBack(
            instant: instant, domains: Set(change.map(\.domain)), authors: actions.authors,
            program: caller.program)
    }

    /// Whether an action has gone on since a change.
    func hasGoneOn(_ action: Generation, since generation: Generation) -> Bool {
        joining.hasGoneOn(action, since: generation)
    }

    /// The time by the clock that has no steps, in milliseconds.
    private var instant: Int64 {
        let passed = start.duration(to: loop.continuousNow).components
        return passed.seconds * 1000 + passed.attoseconds / 1_000_000_000_000_000
    }

    /// Whether a change is the answer of a program to what was just taken back.
    ///
    /// A dialog that is open shows the earlier value, and writes it, or what goes with it, as its own. It
    /// is not a person's action: undo and redo pass over it.
    private func isAnswer(
        _ change: [ChangeProposal], by author: ChangeAuthor, _ caller: Caller
    ) -> Bool {
        guard let lastTakingBack, author.program != Self.tool,
            caller.program != lastTakingBack.program,
            instant - lastTakingBack.instant <= Self.longestAnswer
        else { return false }
        // An application in a sandbox could call anything an answer.
        return !author.isConfined && !author.program.isEmpty
            && lastTakingBack.authors.contains(author)
            || change.allSatisfy { lastTakingBack.domains.contains($0.domain) }
    }

    // MARK: Reading

    /// Whether the writer's thread reads for a call.
    var isBeingRead: Bool { reads > 0 }

    /// Reads on the writer's thread.
    nonisolated(nonsending) func reading<Result: Sendable>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        reads += 1
        defer { reads -= 1 }
        return try await body()
    }

    // MARK: Rules

    /// What is kept.
    var rules: HistoryRules {
        let rules = known ?? read()
        known = rules
        return rules
    }

    /// Whether the newest action of an author may be what a person means by "undo".
    package func isByHand(_ action: ActionSummary) -> Bool {
        action.kind.isByHand && !action.isLost && !action.isState
            && !rules.background.contains(action.author.program)
    }

    /// Reads the rules again if a domain has them.
    func noteChange(of domain: Domain) {
        if domain.name == HistoryTerms.domain { readAgain() }
    }

    /// Forgets what was read.
    func readAgain() {
        known = nil
        bounds.readAgain()
    }

    private func read() -> HistoryRules {
        var rules = HistoryRules()
        var ignored: Set<String> = []
        rules.bounds = bounds.values
        if let value = value(of: HistoryTerms.background) {
            if let programs = value.texts {
                rules.background.formUnion(programs)
            } else {
                ignored.insert(HistoryTerms.background)
            }
        }
        if let value = value(of: HistoryTerms.excluded) {
            if value.texts?.allSatisfy({ rules.exclude($0) }) != true {
                ignored.insert(HistoryTerms.excluded)
            }
        }
        report(ignored)
        return rules
    }

    private func value(of name: String) -> PolicyValue? {
        (try? Key(name)).flatMap { policies.value(of: $0, in: HistoryTerms.domain) }
    }

    /// Says once what is ignored.
    private func report(_ ignored: Set<String>) {
        for name in ignored.subtracting(self.ignored).sorted() {
            let expected =
                name == HistoryTerms.excluded
                ? """
                it is not a list of domains (org.example.App), domains with all below them \
                (org.example.*), and keys (org.example.App Key). The service uses what is valid.
                """ : "it is not a list of names of programs. The service uses its own list."
            logger.warning("\(name) in \(HistoryTerms.domain) is ignored: \(expected)")
        }
        self.ignored = ignored
    }
}

extension HistoryRules {
    /// Adds what has no history.
    ///
    /// - Parameter text: A pattern for domains, or a domain and a key with a space between them.
    /// - Returns: Whether it is one of these.
    fileprivate mutating func exclude(_ text: String) -> Bool {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = parts.first, let pattern = try? DomainPattern(first) else { return false }
        guard parts.count > 1 else {
            excludedDomains.append(pattern)
            return true
        }
        guard let key = try? Key(parts[1]), pattern.domain == first else { return false }
        excludedKeys[first, default: []].insert(key.name)
        return true
    }
}

extension PolicyValue {
    /// The texts of a list of texts; nil for anything else.
    fileprivate var texts: [String]? {
        guard case .list(let elements) = self else { return nil }
        let texts = elements.compactMap { element -> String? in
            if case .text(let text) = element { text } else { nil }
        }
        return texts.count == elements.count ? texts : nil
    }
}
