import DefaultsModel

/// The signals that wait for a reply: their own, or that of an earlier change of their domain.
///
/// Invariants:
/// 1. The signals of a domain, those of all its layers, leave in the order of their generations. What
///    is known of one of its layers may depend on the others; nothing depends on other domains.
/// 2. A signal leaves after the reply to its change, which for a durable one comes from the disk.
/// 3. Where the disk keeps very many waiting, the first rule holds and the second does not: watchers
///    are not kept in the dark for its sake, nor is memory.
struct Announcements {
    /// How many wait at most.
    static let maximumWaiting = 1024

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
