import CLinux
import Glibc
import SystemCalls

/// Descriptors that the loop waits for.
extension EventLoop {
    /// A descriptor that the loop waits for, until it is cancelled.
    package final class Watch {
        let descriptor: Int32
        /// What the number stood for when it was given.
        private let identity: FileIdentity?
        /// Until the end of the wait: the loop keeps a watch until it polls again, and a loop that has
        /// ended never does.
        private var loop: EventLoop?
        fileprivate(set) var handler: ((Events) -> Void)?

        /// Whether it is one of very many; see ``EventLoop/watch(_:for:isOneOfMany:handler:)``.
        let isOneOfMany: Bool

        /// What the loop waits for.
        ///
        /// With nothing here the descriptor is left alone, even if it has failed.
        package var events: Events {
            didSet { if events != oldValue { loop?.watches.update(self) } }
        }

        fileprivate init(
            _ descriptor: Int32, _ events: Events, isOneOfMany: Bool, loop: EventLoop?,
            handler: @escaping (Events) -> Void
        ) {
            self.isOneOfMany = isOneOfMany
            self.descriptor = descriptor
            identity = FileIdentity(ofDescriptor: descriptor)
            self.events = events
            self.loop = loop
            self.handler = handler
        }

        /// Whether the application has closed the descriptor under us.
        var isLost: Bool { !(identity?.isHeld(byDescriptor: descriptor) ?? true) }

        /// Ends the wait and lets go of the handler.
        ///
        /// The descriptor stays open.
        package func cancel() {
            handler = nil
            loop?.watches.remove(self)
            loop = nil
        }
    }

    /// Calls a handler on the loop's thread whenever a descriptor is ready.
    ///
    /// To be called on the loop's thread, and cancelled before the descriptor is closed.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that stays the caller's.
    ///   - events: What to wait for; an error and a hang-up are reported besides.
    ///   - isOneOfMany: Whether the descriptor is one of hundreds, which are rarely ready. Then a wait
    ///     does not take longer with their number. The application must not close it before the watch
    ///     is cancelled.
    ///   - handler: Called with what has come. It must read or write, or it is called again.
    @discardableResult
    package func watch(
        _ descriptor: Int32, for events: Events, isOneOfMany: Bool = false,
        handler: @escaping (Events) -> Void
    ) -> Watch {
        preconditionOnLoop("a descriptor was given to it")
        return watches.add(
            descriptor, events, isOneOfMany: isOneOfMany, loop: self, handler: handler)
    }
}

/// The watches of a loop, and the list for poll(2), which is made again when they change.
struct WatchTable {
    private var watches: [EventLoop.Watch] = []
    private var active: [EventLoop.Watch] = []
    private var list: [pollfd] = []
    private var isOutdated = false
    /// The watches of many descriptors; nil until there is one.
    private var crowd: WatchCrowd?

    mutating func add(
        _ descriptor: Int32, _ events: Events, isOneOfMany: Bool = false, loop: EventLoop? = nil,
        handler: @escaping (Events) -> Void
    ) -> EventLoop.Watch {
        if isOneOfMany, crowd == nil { makeCrowd() }
        let watch = EventLoop.Watch(
            descriptor, events, isOneOfMany: isOneOfMany && crowd != nil, loop: loop,
            handler: handler)
        if watch.isOneOfMany {
            crowd?.add(watch)
        } else {
            watches.append(watch)
            isOutdated = true
        }
        return watch
    }

    mutating func remove(_ watch: EventLoop.Watch) {
        if watch.isOneOfMany {
            crowd?.remove(watch)
        } else {
            watches.removeAll { $0 === watch }
            isOutdated = true
        }
    }

    /// Notes that a watch waits for something else.
    mutating func update(_ watch: EventLoop.Watch) {
        if watch.isOneOfMany { crowd?.update(watch.descriptor) } else { isOutdated = true }
    }

    /// Without a descriptor to spare, all are in one list.
    private mutating func makeCrowd() {
        guard let crowd = WatchCrowd() else { return }
        self.crowd = crowd
        // It is ready if one of its descriptors is.
        watches.append(
            EventLoop.Watch(
                crowd.descriptor, .readable, isOneOfMany: false, loop: nil,
                handler: { _ in
                    for (watch, events) in crowd.ready { watch.handler?(events) }
                }))
        isOutdated = true
    }

    /// Those whose descriptors the application has closed.
    var lost: [EventLoop.Watch] { watches.filter(\.isLost) }

    /// Waits for events; -1 milliseconds is without end.
    mutating func poll(timeout: Int32) -> [(EventLoop.Watch, Events)] {
        if isOutdated { makeList() }
        let count = Glibc.poll(&list, nfds_t(list.count), timeout)
        // Interrupted by a signal, or nothing came: the loop goes round.
        guard count > 0 else { return [] }
        var ready: [(EventLoop.Watch, Events)] = []
        for (watch, entry) in zip(active, list) where entry.revents != 0 {
            ready.append((watch, watch.isLost ? .lost : Events(rawValue: entry.revents)))
        }
        return ready
    }

    private mutating func makeList() {
        active = watches.filter { !$0.events.isEmpty }
        list = active.map { pollfd(fd: $0.descriptor, events: $0.events.rawValue, revents: 0) }
        isOutdated = false
    }
}

/// Watches of very many descriptors, by epoll(7).
///
/// libdbus has two watches for one descriptor, and epoll has one entry.
private final class WatchCrowd {
    /// Readable if one of the descriptors is ready.
    let descriptor: Int32
    private var watches: [Int32: [EventLoop.Watch]] = [:]
    /// What epoll waits for.
    private var entered: [Int32: Events] = [:]
    private static let mostAtOnce = 64

    init?() {
        descriptor = clinux_make_epoll()
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    func add(_ watch: EventLoop.Watch) {
        watches[watch.descriptor, default: []].append(watch)
        update(watch.descriptor)
    }

    func remove(_ watch: EventLoop.Watch) {
        watches[watch.descriptor]?.removeAll { $0 === watch }
        if watches[watch.descriptor]?.isEmpty == true { watches[watch.descriptor] = nil }
        update(watch.descriptor)
    }

    /// Tells epoll what the watches of a descriptor wait for.
    func update(_ number: Int32) {
        let events = (watches[number] ?? []).reduce(into: Events()) { $0.formUnion($1.events) }
        guard events != entered[number, default: []] else { return }
        clinux_set_epoll(
            descriptor, number, UInt32(UInt16(bitPattern: events.rawValue)),
            entered[number] == nil ? 1 : 0)
        entered[number] = events.isEmpty ? nil : events
    }

    /// What is ready now, some of it.
    var ready: [(EventLoop.Watch, Events)] {
        var numbers = [Int32](repeating: 0, count: Self.mostAtOnce)
        var found = [UInt32](repeating: 0, count: Self.mostAtOnce)
        let count = clinux_read_epoll(descriptor, &numbers, &found)
        return (0..<Int(max(count, 0))).flatMap { index in
            let events = Events(rawValue: Int16(truncatingIfNeeded: found[index]))
            return (watches[numbers[index]] ?? []).compactMap { watch in
                let own = events.intersection(watch.events.union([.error, .hangUp]))
                return own.isEmpty ? nil : (watch, own)
            }
        }
    }
}

/// What a descriptor is ready for.
package struct Events: OptionSet, Sendable {
    /// The bits of poll(2).
    package let rawValue: Int16

    /// Makes events of the bits of poll(2).
    package init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// Reading would not block.
    package static let readable = Events(rawValue: Int16(POLLIN))
    /// Writing would not block.
    package static let writable = Events(rawValue: Int16(POLLOUT))
    /// The descriptor has failed; reported unasked.
    package static let error = Events(rawValue: Int16(POLLERR) | Int16(POLLNVAL))
    /// The application has closed the descriptor; reported unasked.
    ///
    /// Nothing may be done by its number, which may be another file's.
    package static let lost = Events(rawValue: Int16(POLLNVAL))
    /// The other end has hung up; reported unasked.
    package static let hangUp = Events(rawValue: Int16(POLLHUP))
}
