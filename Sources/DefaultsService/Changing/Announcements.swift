import DefaultsModel

/// The signals that wait for a reply: their own, or that of a change before.
///
/// Invariants:
/// 1. Signals leave in the order of their generations.
/// 2. A signal leaves after the reply to its change, which for a durable one comes from the disk.
/// 3. Where the disk keeps very many waiting, the first rule holds and the second does not: watchers
///    are not kept in the dark for its sake, nor is memory.
struct Announcements {
    /// How many wait at most.
    static let maximumWaiting = 1024

    private var waiting: [(announcement: Announcement, isReplied: Bool)] = []

    /// Takes the signal of a change whose reply is still to come.
    ///
    /// - Returns: The signals whose time has come.
    mutating func add(_ change: ChangeSet, isReplied: Bool) -> [Announcement] {
        waiting.append((Announcement(change), isReplied))
        return takeReady()
    }

    /// Notes that the reply to a change has been sent.
    ///
    /// - Returns: The signals whose time has come.
    mutating func noteReply(to change: Generation) -> [Announcement] {
        if let index = waiting.firstIndex(where: { $0.announcement.generation == change }) {
            waiting[index].isReplied = true
        }
        return takeReady()
    }

    private mutating func takeReady() -> [Announcement] {
        let isFull = waiting.count > Self.maximumWaiting
        let count =
            isFull ? waiting.count : waiting.firstIndex { !$0.isReplied } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return waiting.prefix(count).map(\.announcement)
    }
}
