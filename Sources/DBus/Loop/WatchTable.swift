import CLinux
import Glibc

/// The watches of a loop, and the system call that waits for them.
///
/// All of it is used on the loop's thread.
protocol WatchTable: AnyObject {
    /// - Returns: Whether the system has taken it. If not, its handler gets an error.
    @discardableResult
    func add(_ watch: EventLoop.Watch) -> Bool
    func remove(_ watch: EventLoop.Watch)
    /// Notes that a watch waits for something else.
    func noteEvents(of watch: EventLoop.Watch)

    /// Those whose descriptors the application has closed.
    var lost: [EventLoop.Watch] { get }

    /// Waits for events, and calls the handlers of the watches for which some have come.
    ///
    /// It also returns when a signal of the system has come.
    ///
    /// - Parameters:
    ///   - milliseconds: How long to wait at most; -1 is without end.
    ///   - hasSlept: Called before the first handler.
    /// - Returns: Whether something may have come.
    func wait(_ milliseconds: Int32, then hasSlept: () -> Void) -> Bool
}

/// Watches by poll(2).
///
/// It sees at once that the application has closed a descriptor, and keeps no reference to a file
/// that would be left then.
final class PollTable: WatchTable {
    private var watches: [EventLoop.Watch] = []
    private var active: [EventLoop.Watch] = []
    private var list: [pollfd] = []
    private var isOutdated = false

    func add(_ watch: EventLoop.Watch) -> Bool {
        watches.append(watch)
        isOutdated = true
        return true
    }

    func remove(_ watch: EventLoop.Watch) {
        watches.removeAll { $0 === watch }
        isOutdated = true
    }

    func noteEvents(of watch: EventLoop.Watch) {
        isOutdated = true
    }

    var lost: [EventLoop.Watch] { watches.filter(\.isLost) }

    func wait(_ milliseconds: Int32, then hasSlept: () -> Void) -> Bool {
        if isOutdated { makeList() }
        let count = poll(&list, nfds_t(list.count), milliseconds)
        hasSlept()
        guard count > 0 else { return count != 0 }
        let ready = zip(active, list).filter { $0.1.revents != 0 }
        for (watch, entry) in ready {
            watch.handler?(watch.isLost ? .lost : Events(rawValue: entry.revents))
        }
        return true
    }

    private func makeList() {
        active = watches.filter { !$0.events.isEmpty }
        list = active.map { pollfd(fd: $0.descriptor, events: $0.events.rawValue, revents: 0) }
        isOutdated = false
    }
}

/// Watches by epoll(7): waiting takes no longer with their number.
///
/// libdbus has two watches for one descriptor, and epoll has one entry.
final class EpollTable: WatchTable {
    private struct Entry {
        var watches: [EventLoop.Watch] = []
        /// What epoll waits for.
        var events: Events = []
        /// Rises when the number becomes free, for another file may get it next.
        var use: UInt32 = 0
    }

    private let descriptor: Int32
    /// By the number of the descriptor.
    private var entries: [Entry] = []
    /// The descriptors that the system does not wait for, as it has no memory or room.
    private var refused: Set<Int> = []
    private var tags = [UInt64](repeating: 0, count: mostAtOnce)
    private var found = [UInt32](repeating: 0, count: mostAtOnce)
    /// As many as `clinux_wait_epoll` returns.
    private static let mostAtOnce = 64

    init() throws(DBusError) {
        descriptor = clinux_make_epoll()
        guard descriptor >= 0 else { throw .systemCall("Making an epoll", error: errno) }
    }

    deinit {
        close(descriptor)
    }

    func add(_ watch: EventLoop.Watch) -> Bool {
        let number = Int(watch.descriptor)
        if number >= entries.count {
            entries += Array(repeating: Entry(), count: number + 1 - entries.count)
        }
        entries[number].watches.append(watch)
        noteEvents(of: watch)
        return !refused.contains(number)
    }

    func remove(_ watch: EventLoop.Watch) {
        let number = Int(watch.descriptor)
        entries[number].watches.removeAll { $0 === watch }
        noteEvents(of: watch)
        if entries[number].watches.isEmpty { entries[number].use &+= 1 }
    }

    func noteEvents(of watch: EventLoop.Watch) {
        let number = Int(watch.descriptor)
        let wanted = entries[number].watches.reduce(into: Events()) { $0.formUnion($1.events) }
        let before = entries[number].events
        guard wanted != before else { return }
        let result = clinux_set_epoll(
            descriptor, watch.descriptor, UInt32(UInt16(bitPattern: wanted.rawValue)),
            UInt64(entries[number].use) << 32 | UInt64(number), before.isEmpty ? 1 : 0)
        if result == 0 || wanted.isEmpty {
            entries[number].events = wanted
            refused.remove(number)
        } else {
            refused.insert(number)
        }
    }

    /// None: nobody else closes descriptors here.
    var lost: [EventLoop.Watch] { [] }

    func wait(_ milliseconds: Int32, then hasSlept: () -> Void) -> Bool {
        let areSomeRefused = !refused.isEmpty
        let count = clinux_wait_epoll(
            descriptor, &tags, &found, areSomeRefused ? 0 : milliseconds)
        hasSlept()
        if areSomeRefused { reportRefused() }
        for index in 0..<max(0, Int(count)) {
            let come = Events(rawValue: Int16(truncatingIfNeeded: found[index]))
            let entry = entries[Int(UInt32(truncatingIfNeeded: tags[index]))]
            // A handler before this one may have closed the file and opened another.
            guard UInt64(entry.use) == tags[index] >> 32 else { continue }
            for watch in entry.watches {
                let own = come.intersection(watch.events.union([.error, .hangUp]))
                if !own.isEmpty, !watch.events.isEmpty { watch.handler?(own) }
            }
        }
        return count != 0 || areSomeRefused
    }

    private func reportRefused() {
        let numbers = refused
        refused = []
        for watch in numbers.flatMap({ entries[$0].watches }) { watch.handler?(.error) }
    }
}
