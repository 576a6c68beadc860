package import DefaultsModel
package import DefaultsStorage
import DefaultsTerms

/// The contents of the signals for one change.
///
/// On a bus it has names, never values. Those who follow the domain get small values, too.
package struct Announcement {
    package let domain: Domain
    package private(set) var changed: [Key]
    package private(set) var removed: [Key]
    package let generation: Generation
    package let origin: String
    /// What was set, for those who follow the domain; empty if it is too large to be sent.
    package private(set) var set: [ChangeProposal.Assignment] = []

    /// For a change that does not name its keys or has very many, the names are left out.
    init(_ change: ChangeSet) {
        self.init(
            change.domain, changed: change.set.map(\.key), removed: change.removed,
            at: change.generation, by: change.origin)
        let size = change.set.reduce(0) { $0 + $1.archive.count }
        set = size <= ContractLimits.maximumSignalledValues ? change.set : []
    }

    /// For changes whose own signals were not sent.
    package init(of domain: Domain, at generation: Generation) {
        self.init(domain, changed: [], removed: [], at: generation, by: "")
    }

    /// For changes that were found in the crash journal at the start.
    package init(_ pending: PendingNames) {
        self.init(
            pending.domain, changed: pending.changed, removed: pending.removed,
            at: pending.generation, by: "")
    }

    /// For a domain that has changed because the store was damaged and repaired.
    init(_ repaired: RepairedDomain, at generation: Generation) {
        self.init(
            repaired.domain, changed: repaired.changed, removed: repaired.removed, at: generation,
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
        // The record of the files is not a key. It may say that other keys are locked, which has no
        // names either.
        self.changed = changed.filter { $0 != .fileRecord }
        self.removed = removed.filter { $0 != .fileRecord }
    }

    /// The same without names.
    ///
    /// Receivers then have to call `GetChanges`.
    package func withoutNames() -> Announcement {
        var announcement = self
        (announcement.changed, announcement.removed, announcement.set) = ([], [], [])
        return announcement
    }

    /// How many bytes the names of its keys have.
    package var nameBytes: Int { (changed + removed).reduce(0) { $0 + $1.length } }

    /// The same for a bus, where nobody gets values.
    package func withoutValues() -> Announcement {
        var announcement = self
        announcement.set = []
        return announcement
    }
}

/// The signals that wait for the reply to their own change, or for an earlier signal of their
/// domain.
///
/// Invariants:
/// 1. The signals of a domain, including all its layers, are sent in the order of their
///    generations. Clients need this because the value of a key depends on all layers. Different
///    domains do not depend on each other.
/// 2. A signal is sent after the reply to its change. For a durable change, the reply comes when it
///    is on disk.
/// 3. If the disk makes too many signals wait, only the first rule is kept: watchers should not
///    wait for long, and memory is limited.
final class Announcements {
    /// The most signals that wait.
    private static let maximumWaiting = 1024

    /// By the name of the domain, in the order of their generations.
    private var waiting: [String: [(announcement: Announcement, isReplied: Bool)]] = [:]
    private var count = 0

    /// Adds the signal of a change, which may not have its reply yet.
    ///
    /// - Returns: The signals that can be sent now.
    func add(_ change: ChangeSet, isReplied: Bool) -> [Announcement] {
        let name = change.domain.name
        if isReplied, waiting[name] == nil { return [Announcement(change)] }
        waiting[name, default: []].append((Announcement(change), isReplied))
        count += 1
        return count > Self.maximumWaiting ? takeAll() : takeReady(of: name)
    }

    /// Notes that the reply to a change has been sent.
    ///
    /// - Returns: The signals that can be sent now.
    func noteReply(to change: ChangeSet) -> [Announcement] {
        let name = change.domain.name
        let index = waiting[name]?.firstIndex {
            $0.announcement.generation == change.generation
        }
        guard let index else { return [] }
        waiting[name]?[index].isReplied = true
        return takeReady(of: name)
    }

    private func takeReady(of name: String) -> [Announcement] {
        guard let all = waiting[name] else { return [] }
        let ready = all.prefix { $0.isReplied }
        let rest = all.dropFirst(ready.count)
        waiting[name] = rest.isEmpty ? nil : Array(rest)
        count -= ready.count
        return ready.map(\.announcement)
    }

    private func takeAll() -> [Announcement] {
        defer { (waiting, count) = ([:], 0) }
        return waiting.values.joined().map(\.announcement).sorted {
            $0.generation < $1.generation
        }
    }
}
