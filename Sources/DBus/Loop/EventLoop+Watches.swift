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
        /// Until the end of the wait.
        private var loop: EventLoop?
        fileprivate(set) var handler: ((Events) -> Void)?

        /// What the loop waits for.
        ///
        /// With nothing here the descriptor is left alone, even if it has failed.
        package var events: Events {
            didSet { if events != oldValue { loop?.watches.noteEvents(of: self) } }
        }

        init(
            _ descriptor: Int32, _ events: Events, identity: FileIdentity?, loop: EventLoop?,
            handler: @escaping (Events) -> Void
        ) {
            self.descriptor = descriptor
            self.identity = identity
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
        let watch = Watch(
            descriptor, events, identity: identity(of: descriptor), loop: self, handler: handler)
        watches.add(watch)
        return watch
    }

    /// What tells later whether the application has closed a descriptor; nil in a process of our own.
    func identity(of descriptor: Int32) -> FileIdentity? {
        isInOwnProcess ? nil : FileIdentity(ofDescriptor: descriptor)
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
    /// The other end of a stream socket sends nothing more.
    package static let peerHangUp = Events(rawValue: Int16(EPOLLRDHUP.rawValue))
    /// The other end has hung up; reported unasked.
    package static let hangUp = Events(rawValue: Int16(POLLHUP))
}
