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
    /// The action that it goes on with, by the generation of its first change; nil if it begins one.
    package var action: Generation?
    /// When it was made, in seconds since 1970.
    package var time: Int64
    /// The actions that it takes back or does again, each by its first generation.
    package var references: [Generation]
    /// Whether earlier changes of its keys are missing, so that it is not known what they had before.
    package var isCoalesced = false

    /// Describes a change.
    package init(
        author: ChangeAuthor, kind: HistoryTerms.Kind = .change, action: Generation? = nil,
        time: Int64 = 0, references: [Generation] = []
    ) {
        self.author = author
        self.kind = kind
        self.action = action
        self.time = time
        self.references = references
    }

    /// Nothing is known about the change, such as one that an earlier version has left in the journal.
    static let unknown: ChangeNote = {
        var note = ChangeNote(author: ChangeAuthor(program: ""), kind: .late)
        note.isCoalesced = true
        return note
    }()
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
