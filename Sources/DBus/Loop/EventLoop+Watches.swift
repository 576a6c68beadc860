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

        /// What the loop waits for.
        ///
        /// With nothing here the descriptor is left alone, even if it has failed.
        package var events: Events {
            didSet { loop?.watches.isOutdated = true }
        }

        fileprivate init(
            _ descriptor: Int32, _ events: Events, loop: EventLoop?,
            handler: @escaping (Events) -> Void
        ) {
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
    ///   - handler: Called with what has come. It must read or write, or it is called again.
    @discardableResult
    package func watch(
        _ descriptor: Int32, for events: Events, handler: @escaping (Events) -> Void
    ) -> Watch {
        preconditionOnLoop("a descriptor was given to it")
        return watches.add(descriptor, events, loop: self, handler: handler)
    }
}

/// The watches of a loop, and the list for poll(2), which is made again when they change.
struct WatchTable {
    private var watches: [EventLoop.Watch] = []
    private var active: [EventLoop.Watch] = []
    private var list: [pollfd] = []
    var isOutdated = false

    mutating func add(
        _ descriptor: Int32, _ events: Events, loop: EventLoop? = nil,
        handler: @escaping (Events) -> Void
    ) -> EventLoop.Watch {
        let watch = EventLoop.Watch(descriptor, events, loop: loop, handler: handler)
        watches.append(watch)
        isOutdated = true
        return watch
    }

    mutating func remove(_ watch: EventLoop.Watch) {
        watches.removeAll { $0 === watch }
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
