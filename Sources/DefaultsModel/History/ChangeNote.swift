package import DefaultsTerms

/// Who has made a change, as the history names it.
package struct ChangeAuthor: Hashable, Sendable {
    /// The name of the program, of an interpreter that of the script; empty if it is unknown.
    package var program: String
    /// The application ID, if the program runs in a sandbox; otherwise empty.
    package var application: String
    /// The machine that the change came from by roaming; empty for this one.
    package var machine: String
    /// The owner of the document that made it; empty if none did.
    package var owner: String

    /// Names an author.
    package init(
        program: String, application: String = "", machine: String = "", owner: String = ""
    ) {
        self.program = program
        self.application = application
        self.machine = machine
        self.owner = owner
    }

    /// The service itself.
    package static let service = ChangeAuthor(program: "defaultsd")

    /// Whether it runs in a sandbox.
    package var isConfined: Bool { !application.isEmpty }
}

/// What the history is to know about a change besides its keys and values.
package struct ChangeNote: Hashable, Sendable {
    /// Who has made it.
    package var author: ChangeAuthor
    /// What kind of action it is.
    package var kind: HistoryTerms.Kind
    /// The connection that it came by, in one life of the daemon: changes by the same one may be one
    /// action.
    ///
    /// 0: it is an action of its own.
    package var line: UInt64
    /// When it was made, by the clock that goes on while the machine is suspended, in milliseconds.
    package var instant: Int64
    /// When it was made, in seconds since 1970.
    package var time: Int64
    /// The actions that it takes back or does again, each by its first generation.
    package var references: [Generation]
    /// Whether earlier changes of its keys are missing, so that it is not known what they had before.
    package var isCoalesced = false

    /// Describes a change.
    package init(
        author: ChangeAuthor, kind: HistoryTerms.Kind = .change, line: UInt64 = 0,
        instant: Int64 = 0, time: Int64 = 0, references: [Generation] = []
    ) {
        self.author = author
        self.kind = kind
        self.line = line
        self.instant = instant
        self.time = time
        self.references = references
    }

    /// Nothing is known about the change, such as one that an earlier version has left in the journal.
    static let unknown: ChangeNote = {
        var note = ChangeNote(author: ChangeAuthor(program: ""), kind: .late)
        note.isCoalesced = true
        return note
    }()

    /// How long the pause between two changes of one action may be, in milliseconds.
    package static let longestPause: Int64 = 2000
    /// How long an action may last, in milliseconds.
    ///
    /// Otherwise a program that writes each second for a year would have one action.
    package static let longestAction: Int64 = 60_000

    /// Whether a change with this note goes on with an action.
    ///
    /// - Parameters:
    ///   - action: The note of the action's first change.
    ///   - ended: When the action's last change was made, by the same clock.
    ///   - instant: When the change is made that would be its last one.
    package func continues(
        _ action: ChangeNote, ended: Int64, upTo instant: Int64
    ) -> Bool {
        line != 0 && line == action.line && author == action.author && !isCoalesced
            && kind == .change && action.kind == .change
            // A number that a file has may be forged.
            && (0...Self.longestPause).contains(self.instant &- ended)
            && (0...Self.longestAction).contains(instant &- action.instant)
    }
}

extension ChangeNote {
    /// Whether all changes with this note are one action, whatever their keys are: those of a restoration.
    package var isOfGroup: Bool { kind == .restore && line != 0 }
}

extension Domain {
    /// Domains without a history: what they had is not to be shown or taken back.
    private static let withoutHistory: Set<String> = [
        GrantTerms.domain, QuotaTerms.domain, HistoryTerms.domain, "org.defaultsd.Trying",
        "org.defaultsd.RoamConflicts", "org.defaultsd.Dconf",
    ]

    /// Whether changes of the domain are kept in the history.
    package var hasHistory: Bool {
        layer.isWritable && !Domain.withoutHistory.contains(name)
    }
}
