import CLinux

/// The memory of the process, of which a large value should leave no trace.
enum Memory {
    /// Has the C library return large blocks to the system as soon as they are freed.
    ///
    /// By default it raises its thresholds to the largest block that it has seen, up to 32 MiB,
    /// and has a heap for each thread. To be called before there is a second one.
    static func returnLargeBlocks() {
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_ARENA_MAX, 1)
    }

    /// Returns what lies free between small blocks in use, after work that made very many.
    ///
    /// It takes some microseconds where little is free, and some milliseconds for 100 MB.
    static func returnFreePages() {
        malloc_trim(0)
    }
}
