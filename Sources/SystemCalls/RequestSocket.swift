internal import Glibc
internal import Synchronization

// Invariants
//
// 1. There is one request at a time, and the next message is its answer. So after an answer that
//    does not come, nothing is asked any more.
// 2. Nobody waits longer than `patience`. A process that was stopped or frozen meanwhile has not
//    waited: the time counts in steps.

/// Asks another process, over a socket that both have.
///
/// A request and its answer are one message each, with at most one descriptor. Any thread may ask.
package final class RequestSocket: Sendable {
    /// A request or an answer.
    package struct Letter: Sendable {
        /// The contents.
        package var parcel: Parcel
        /// What comes with them.
        package var descriptor: FileDescriptor?

        /// Makes one.
        package init(_ parcel: Parcel, _ descriptor: FileDescriptor? = nil) {
            self.parcel = parcel
            self.descriptor = descriptor
        }
    }

    /// How long an answer may take, and the steps in which this is counted.
    private static let patience = 5
    private static let step = Duration.seconds(1)
    /// For a watch: it becomes readable if the other process has ended while nothing is asked.
    package let descriptor: FileDescriptor
    private let isUsable = Mutex(true)

    /// Uses a socket that keeps the bounds of messages.
    package init(on descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Two ends of a socket.
    package static func pair() throws(SystemError) -> (FileDescriptor, FileDescriptor) {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
            throw .last("socketpair", "helper")
        }
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }

    /// Sends a request, and waits for the answer.
    ///
    /// - Returns: Nil if the other process has ended, or does not answer in time.
    package func ask(_ letter: Letter) -> Letter? {
        isUsable.withLock { isUsable in
            guard isUsable else { return nil }
            if Self.send(letter, on: descriptor.number), Self.isAnswered(on: descriptor.number),
                let answer = Self.receive(on: descriptor.number)
            {
                return answer
            }
            isUsable = false
            // The watch sees this, and the other process sees the end.
            shutdown(descriptor.number, Int32(SHUT_RDWR))
            return nil
        }
    }

    /// Whether the other process has ended, or has not answered in time.
    package var hasEnded: Bool {
        guard isUsable.withLockIfAvailable({ $0 }) ?? true else { return true }
        var byte: UInt8 = 0
        let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
        return retrying { recv(descriptor.number, &byte, 1, flags) } == 0
    }

    private static func isAnswered(on socket: Int32) -> Bool {
        for _ in 0..<patience {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let count = retrying {
                poll(&entry, 1, Int32(step / .milliseconds(1)))
            }
            if count != 0 { return count > 0 }
        }
        return false
    }

    /// Answers requests until the other process has ended.
    package static func serve(on socket: FileDescriptor, _ answer: (Letter) -> Letter) {
        while let request = receive(on: socket.number),
            send(answer(request), on: socket.number)
        {}
    }
}
