internal import CLinux
internal import Glibc
internal import Synchronization

// Invariants
//
// 1. Nothing is written, read or closed by a number that now belongs to another file.
// 2. If the application closes the pipe, a thread that sleeps in poll(2) wakes, because its end of
//    the pipe has no other end any more. An eventfd would let it sleep forever.

/// A pipe(7) by which one thread wakes another from poll(2).
package final class WakeUp: Sendable {
    /// An end of the pipe.
    private struct End {
        let number: Int32
        let identity: FileIdentity?

        init(_ number: Int32) {
            self.number = number
            identity = FileIdentity(ofDescriptor: number)
        }

        var isIntact: Bool { identity?.isHeld(byDescriptor: number) ?? false }

        func closeIfOurs() {
            if isIntact { close(number) }
        }
    }

    private struct Pipe {
        let reading: End
        let writing: End

        init() throws(SystemError) {
            var numbers: (Int32, Int32) = (-1, -1)
            let result = withUnsafeMutableBytes(of: &numbers) { bytes in
                clinux_make_pipe(bytes.bindMemory(to: Int32.self).baseAddress)
            }
            guard result == 0 else { throw .last("pipe2", "wake-up") }
            (reading, writing) = (End(numbers.0), End(numbers.1))
        }

        func closeIfOurs() {
            reading.closeIfOurs()
            writing.closeIfOurs()
        }
    }

    private let pipe: Mutex<Pipe>

    /// - Throws: ``SystemError`` if the process has no descriptor to spare.
    package init() throws(SystemError) {
        pipe = Mutex(try Pipe())
    }

    deinit {
        pipe.withLock { $0.closeIfOurs() }
    }

    /// What becomes readable.
    package var descriptor: Int32 { pipe.withLock { $0.reading.number } }

    /// Whether both ends are still ours.
    package var isIntact: Bool { pipe.withLock { $0.reading.isIntact && $0.writing.isIntact } }

    /// Makes another pipe in the place of one that the application has closed.
    ///
    /// - Throws: ``SystemError`` if the process has no descriptor to spare.
    package func renew() throws(SystemError) {
        let new = try Pipe()
        pipe.withLock { pipe in
            pipe.closeIfOurs()
            pipe = new
        }
    }

    /// Makes the descriptor readable.
    ///
    /// A pipe that is full is readable already. One that is not ours wakes nobody; the thread that
    /// sleeps has been woken by its end.
    package func signal() {
        pipe.withLock { pipe in
            guard pipe.writing.isIntact else { return }
            var byte: UInt8 = 1
            _ = write(pipe.writing.number, &byte, 1)
        }
    }

    /// Makes the descriptor wait for the next signal.
    package func clear() {
        pipe.withLock { pipe in
            guard pipe.reading.isIntact else { return }
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { bytes in
                while read(pipe.reading.number, bytes.baseAddress, bytes.count) == bytes.count {}
            }
        }
    }
}
