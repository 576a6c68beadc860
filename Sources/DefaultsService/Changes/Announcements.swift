import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import Logging

/// What the signal `Changed` tells of one change: names, never values.
struct Announcement {
    let domain: Domain
    private(set) var changed: [Key]
    private(set) var removed: [Key]
    let generation: Generation
    let origin: String

    /// Of a change with very many keys, and of one that does not name them, no names are told.
    init(_ change: ChangeSet) {
        self.init(
            change.domain, changed: change.set.map(\.key), removed: change.removed,
            at: change.generation, by: change.origin)
    }

    /// Of what a start has found in the crash journal.
    init(_ pending: PendingNames) {
        self.init(
            pending.domain, changed: pending.changed, removed: pending.removed,
            at: pending.generation, by: "")
    }

    /// Of a domain that is not as it was, because the store was damaged.
    init(_ rescued: RescuedDomain, at generation: Generation) {
        self.init(
            rescued.domain, changed: rescued.changed, removed: rescued.removed, at: generation,
            by: "")
    }

    private init(
        _ domain: Domain, changed: [Key], removed: [Key], at generation: Generation,
        by origin: String
    ) {
        self.domain = domain
        self.generation = generation
        self.origin = origin
        let names = (changed + removed).reduce(0) { $0 + $1.length }
        guard names <= ContractLimits.maximumSignalledNames else {
            (self.changed, self.removed) = ([], [])
            return
        }
        // What else is locked by files has no names, either.
        self.changed = changed.filter { $0 != .fileRecord }
        self.removed = removed.filter { $0 != .fileRecord }
    }

    /// The same without names, for which those who listen have to ask.
    func withoutNames() -> Announcement {
        var announcement = self
        (announcement.changed, announcement.removed) = ([], [])
        return announcement
    }

    /// The signal, as it is sent.
    var signal: ChangedSignal {
        ChangedSignal(
            domain: domain.name, layer: domain.layer.name.rawValue, changed: changed.map(\.name),
            removed: removed.map(\.name), generation: generation.rawValue, origin: origin)
    }
}

/// The signals that wait for a reply: their own, or that of an earlier change of their domain.
///
/// Invariants:
/// 1. The signals of a domain, those of all its layers, leave in the order of their generations. What
///    is known of one of its layers may depend on the others; nothing depends on other domains.
/// 2. A signal leaves after the reply to its change, which for a durable one comes from the disk.
/// 3. If the disk keeps very many waiting, the first rule holds and the second does not: watchers
///    are not kept in the dark for its sake, nor is memory.
struct Announcements {
    /// How many wait at most.
    private static let maximumWaiting = 1024

    /// By the name of the domain, in the order of their generations.
    private var waiting: [String: [(announcement: Announcement, isReplied: Bool)]] = [:]
    private var count = 0

    /// Takes the signal of a change whose reply may still have to come.
    ///
    /// - Returns: The signals whose time has come.
    mutating func add(_ change: ChangeSet, isReplied: Bool) -> [Announcement] {
        let name = change.domain.name
        if isReplied, waiting[name] == nil { return [Announcement(change)] }
        waiting[name, default: []].append((Announcement(change), isReplied))
        count += 1
        return count > Self.maximumWaiting ? takeAll() : takeReady(of: name)
    }

    /// Notes that the reply to a change has been sent.
    ///
    /// - Returns: The signals whose time has come.
    mutating func noteReply(to change: ChangeSet) -> [Announcement] {
        let name = change.domain.name
        let index = waiting[name]?.firstIndex {
            $0.announcement.generation == change.generation
        }
        guard let index else { return [] }
        waiting[name]?[index].isReplied = true
        return takeReady(of: name)
    }

    private mutating func takeReady(of name: String) -> [Announcement] {
        guard let all = waiting[name] else { return [] }
        let ready = all.prefix { $0.isReplied }
        let rest = all.dropFirst(ready.count)
        waiting[name] = rest.isEmpty ? nil : Array(rest)
        count -= ready.count
        return ready.map(\.announcement)
    }

    private mutating func takeAll() -> [Announcement] {
        defer { (waiting, count) = ([:], 0) }
        return waiting.values.joined().map(\.announcement).sorted {
            $0.generation < $1.generation
        }
    }
}

/// The signals that tell everybody of changes.
extension DefaultsObject {
    /// Announces the changes that came from the crash journal, in one signal for each layer of a domain.
    ///
    /// The previous process may have ended between a reply and its signal.
    func announceRecovered() {
        announce(
            recovered.map { Announcement($0) }.sorted { $0.generation < $1.generation })
        recovered = []
    }

    /// Announces the domains that a repair has changed.
    func announce(_ rescued: [RescuedDomain], at generation: Generation) {
        announce(rescued.map { Announcement($0, at: generation) })
    }

    /// Sends signals.
    ///
    /// The callers already have their replies, so a failure is only logged.
    func announce(_ announcements: [Announcement]) {
        for announcement in announcements {
            do {
                try connection.assumeIsolated { connection in
                    // The bus keeps signals for programs that do not read them, so these signals are short.
                    let announcement =
                        connection.isLargelyUnread ? announcement.withoutNames() : announcement
                    try connection.emit(announcement.signal)
                }
            } catch {
                logger.warning(
                    "Cannot announce change \(announcement.generation) on the bus: \(error)")
            }
        }
    }
}
