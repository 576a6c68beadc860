import DBus
import DconfFiles
import DefaultsDconf

/// What a daemon knows that is dconf's service for programs that use libdconf.
///
/// It has names only, and no values. Values are read from the database when the file is written.
struct DconfState {
    /// Carried out when the file has all changes, or with the reason why it cannot be written.
    typealias Waiter = (_ failure: String?) -> Void

    let file: DconfFile
    /// Whether the name of dconf's service belongs to this daemon.
    ///
    /// Before that the file is not ours.
    var isOwner = false
    /// The thread that works with the file, as soon as there is something to do.
    var thread: EventLoop?

    // MARK: What is to be written

    /// The settings that may differ from the file.
    var changed: Set<SettingsPath> = []
    /// Whether all may differ.
    var isWholeDue = true
    /// Whether somebody waits, so that the file is written at once.
    var isUrgent = false
    /// Whether the file is being written.
    var isPublishing = false
    /// Fires when changes are due that nobody waits for, or when a failure is tried again.
    var timer: EventLoop.Timer?
    /// Those who wait until the file is written, or get the reason why it could not be.
    var waiting: [Waiter] = []
    /// What calls have changed since the file was last written.
    var notices: [(paths: [String], tag: String)] = []
    /// The file that was written last.
    var written: DconfFile.Written?

    // MARK: Which domains are published

    /// The domains of the file that no schema has brought there.
    var domains: Set<String> = []
    /// Those of them that the database names, too.
    var recorded: Set<String> = []
    /// The families of the schemas; nil if they were not read yet.
    var families: Set<DomainFamily>?

    // MARK: What was said

    /// What was logged about the last failure.
    var failure: String?
    /// How often the file could not be written since it last could.
    var failures = 0
    /// How long the last writing took.
    var duration = Duration.zero
    /// The changes that programs have not heard of.
    var outgoing: [DconfNotice] = []
    /// Whether the bus is being asked who listens.
    var isAsking = false
    /// When the bus may be asked again.
    var askTimer: EventLoop.Timer?
    /// The number in the last tag.
    var lastTag: UInt64 = 0
    /// The last calls that have changed settings.
    var blame = DconfBlame()

    init(_ file: DconfFile) {
        self.file = file
    }

    /// Whether there is something to write.
    var isDue: Bool { isWholeDue || !changed.isEmpty || !waiting.isEmpty }

    /// Takes those who wait for the next file.
    mutating func takeWaiting() -> [Waiter] {
        defer { waiting = [] }
        isUrgent = false
        return waiting
    }

    /// Takes what calls have changed, which the next file has.
    mutating func takeNotices() -> [(paths: [String], tag: String)] {
        defer { notices = [] }
        return notices
    }

    /// Whether programs see a domain in the file.
    func isPublished(_ domain: String) -> Bool {
        domains.contains(domain)
            || DconfDomains.arePublished(domain, families: families ?? [])
    }
}

/// The last calls that have changed settings, for `dconf blame`.
struct DconfBlame {
    /// The most calls that are remembered.
    private static let mostCalls = 32

    private var records: [String] = []

    /// Notes a call.
    mutating func note(_ call: MethodCall) {
        if records.count >= Self.mostCalls { records.removeFirst() }
        let process = call.credentials?.processID.map { "PID: \($0)\n" } ?? "Unknown process\n"
        records.append(
            "Sender: \(call.sender?.string ?? "")\nObject path: \(call.path)\nMethod: \(call.member)\n"
                + process)
    }

    /// The calls as text, the oldest first.
    var text: String {
        records.joined(
            separator: "\n====================================================================\n")
    }
}
