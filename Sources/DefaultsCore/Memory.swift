import CLinux
import class DBus.EventLoop

/// The memory of the process: a large value should not keep memory in use after it is gone.
package final class Memory {
    /// After work on more entries than this, free memory is returned to the system, and how long
    /// after.
    private static let manyEntries = 1000
    private static let delay = Duration.seconds(1)

    /// Fires when free memory is to be returned.
    private let alarm: Alarm
    /// Gives up what is quickly made again, before free memory is returned.
    package var forget: () -> Void = {}

    init(on loop: EventLoop) {
        alarm = Alarm(on: loop)
    }

    /// Notes that a call has worked on this many entries.
    ///
    /// After very many, the memory is returned to the system soon, but not at once: that would cost
    /// some milliseconds for each of several such calls.
    package func noteWork(onEntries count: Int) {
        if count > Self.manyEntries { returnSoon() }
    }

    /// Returns free memory to the system in a moment.
    package func returnSoon() {
        alarm.set(after: Self.delay) {
            self.forget()
            Self.returnFreePages()
        }
    }

    /// Returns nothing more.
    func end() { alarm.stop() }

    /// Makes the C library return large blocks to the system as soon as they are freed.
    ///
    /// By default it raises its threshold to the largest block that it has seen, up to 32 MiB, and
    /// has a heap for each thread. Call this before there is a second thread.
    package static func returnLargeBlocks() {
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_ARENA_MAX, 1)
    }

    /// Returns free memory between small blocks that are in use.
    ///
    /// Call this after work with very many blocks.
    ///
    /// This takes some microseconds if little is free, and some milliseconds for 100 MB.
    package static func returnFreePages() {
        malloc_trim(0)
    }
}
