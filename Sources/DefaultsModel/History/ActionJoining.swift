import DefaultsTerms

/// Decides which changes are one action: what a person would call one thing.
///
/// A dialog makes several changes at one click, some by GSettings and some by Xfconf, and a slider makes one
/// after the other. So a change goes on with the last action of its program, whatever the connection, after
/// a short pause. The decision falls once, when the change is made, and stays with the change as
/// ``ChangeNote/action``. Nothing that happens to the disk alters it.
///
/// Invariants:
/// 1. Actions of two programs are never one, nor those of two processes outside of a sandbox. Those of
///    applications that are not known are not joined.
/// 2. All keys of a change are in the same action.
/// 3. An action has no key that another one has changed between two of its own changes, so the key has one
///    earlier value in it.
/// 4. What was taken back does not go on.
package struct ActionJoining: Sendable {
    /// How long the pause before a change of the same keys may be, in milliseconds.
    package static let longestPause: Int64 = 2000
    /// How long the pause before a change of other keys may be, in milliseconds.
    ///
    /// A person does not click twice as fast as that.
    package static let longestPauseOfOtherKeys: Int64 = 500
    /// How long an action may last, in milliseconds.
    ///
    /// Otherwise a program that writes each second for a year would have one action.
    package static let longestAction: Int64 = 60_000
    /// The most keys of an action that goes on.
    package static let mostKeys = 256
    /// The most programs whose last actions are remembered.
    private static let mostPrograms = 64

    /// The last action of a program.
    private struct Recent: Sendable {
        let id: Generation
        let author: ChangeAuthor
        let kind: HistoryTerms.Kind
        let began: Int64
        var ended: Int64
        /// The generation of its last change.
        var last: Generation
        /// Its keys, each with whether nothing else has changed it since.
        var keys: [Domain: [Key: Bool]] = [:]
        var keyCount = 0
    }

    /// The last actions that may go on, by program.
    private var recents: [WriteRates.Program: Recent] = [:]

    package init() {}

    /// The action that a change goes on with; nil if it begins one.
    ///
    /// - Parameters:
    ///   - change: What changes in each domain.
    ///   - note: Who makes it.
    ///   - program: The program that makes it.
    ///   - instant: When it is made, by a clock without steps, in milliseconds.
    package func action(
        of change: [ChangeProposal], _ note: ChangeNote, by program: WriteRates.Program,
        at instant: Int64
    ) -> Generation? {
        guard note.kind.goesOn, let recent = recents[program], recent.kind == note.kind,
            recent.author == note.author, instant - recent.began <= Self.longestAction
        else { return nil }
        var otherKeys = 0
        for proposal in change {
            if proposal.clearsDomain { return nil }
            let own = recent.keys[proposal.domain] ?? [:]
            for key in proposal.keys {
                if own[key] == false { return nil }
                if own[key] == nil { otherKeys += 1 }
            }
        }
        let longest = otherKeys > 0 ? Self.longestPauseOfOtherKeys : Self.longestPause
        return instant - recent.ended <= longest && recent.keyCount + otherKeys <= Self.mostKeys
            ? recent.id : nil
    }

    /// Takes note of a change that was made.
    ///
    /// - Parameters:
    ///   - change: What has changed in each domain.
    ///   - generation: The generation of the change.
    ///   - program: The program; nil if nothing goes on with the change.
    package mutating func note(
        _ change: [ChangeProposal], _ note: ChangeNote, at generation: Generation,
        by program: WriteRates.Program?, at instant: Int64
    ) {
        let id = note.action ?? generation
        forget(before: instant, overtakenBy: change, of: id)
        if !note.references.isEmpty {
            recents = recents.filter { !note.references.contains($0.value.id) }
        }
        guard let program, program != .unknownApplication else { return }
        let count = change.reduce(0) { $0 + $1.keys.count }
        guard note.kind.goesOn, !change.contains(where: \.clearsDomain), count <= Self.mostKeys
        else {
            recents[program] = nil
            return
        }
        if recents[program]?.id != id {
            makeRoom(for: program)
            recents[program] = Recent(
                id: id, author: note.author, kind: note.kind, began: instant, ended: instant,
                last: generation)
        }
        recents[program]?.ended = instant
        recents[program]?.last = generation
        for proposal in change {
            for key in proposal.keys {
                let known = recents[program]?.keys[proposal.domain, default: [:]]
                    .updateValue(true, forKey: key)
                if known == nil { recents[program]?.keyCount += 1 }
            }
        }
    }

    /// Whether an action has gone on since a change.
    package func hasGoneOn(_ action: Generation, since generation: Generation) -> Bool {
        recents.values.contains { $0.id == action && $0.last > generation }
    }

    private mutating func makeRoom(for program: WriteRates.Program) {
        guard recents.count >= Self.mostPrograms, recents[program] == nil,
            let oldest = recents.min(by: { $0.value.ended < $1.value.ended })
        else { return }
        recents[oldest.key] = nil
    }

    /// Forgets actions that cannot go on, and keys of others that a change has overtaken.
    private mutating func forget(
        before instant: Int64, overtakenBy change: [ChangeProposal], of id: Generation
    ) {
        for (program, recent) in recents where recent.id != id {
            if instant - recent.ended > Self.longestPause {
                recents[program] = nil
                continue
            }
            for proposal in change {
                guard let own = recent.keys[proposal.domain] else { continue }
                if proposal.clearsDomain {
                    recents[program]?.keys[proposal.domain] = own.mapValues { _ in false }
                }
                for key in proposal.keys where own[key] != nil {
                    recents[program]?.keys[proposal.domain]?[key] = false
                }
            }
        }
    }
}

extension HistoryTerms.Kind {
    /// Whether an action of this kind may go on with a later change.
    fileprivate var goesOn: Bool { self == .change || self == .answer }
}

extension ChangeProposal {
    /// The keys that it names.
    fileprivate var keys: [Key] { self.set.map(\.key) + removed }
}
