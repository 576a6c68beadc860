import DBus
import DefaultsClient
@preconcurrency import Glibc
import Synchronization

/// Whether a line is being written, and whether the program must end after it.
private let isWriting = Atomic(false)
private let isEnding = Atomic(false)

/// Standard output of a program that prints lines until it is interrupted, or its reader goes away.
///
/// Both are normal ends, with status 0, and come after a complete line. A second signal does not
/// wait for a reader that has stopped reading.
enum LineOutput {
    /// Makes signals, and the end of the reader, end the program.
    static func begin() {
        signal(SIGPIPE, SIG_IGN)
        SignalHandling.handle([SIGINT, SIGTERM]) { _ in
            // Only calls that signal-safety(7) allows.
            let isSecond = isEnding.exchange(true, ordering: .sequentiallyConsistent)
            if isSecond || !isWriting.load(ordering: .sequentiallyConsistent) { _exit(0) }
        }
    }

    /// Ends the program when its reader has gone, without waiting for the next line.
    static func endWithReader(along defaults: RemoteDefaults) {
        let loop = defaults.connection.loop
        loop.perform {
            loop.watch(STDOUT_FILENO, for: .error) { events in
                if !events.isDisjoint(with: [.error, .hangUp]) { _exit(0) }
            }
        }
    }

    /// Prints a line with one call.
    static func print(_ line: String) throws {
        isWriting.store(true, ordering: .sequentiallyConsistent)
        defer {
            isWriting.store(false, ordering: .sequentiallyConsistent)
            if isEnding.load(ordering: .sequentiallyConsistent) { _exit(0) }
        }
        let bytes = Array("\(line)\n".utf8)
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(STDOUT_FILENO, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EPIPE { _exit(0) }
                guard count > 0 else { throw ToolError.output(errno) }
                rest = rest.dropFirst(count)
            }
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// The address of the first byte.
    ///
    /// The buffer outlives the slice.
    fileprivate var baseAddress: UnsafeRawPointer? {
        base.baseAddress.map { $0 + startIndex }
    }
}
