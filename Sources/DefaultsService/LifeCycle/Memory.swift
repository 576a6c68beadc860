import Glibc

/// The memory of the process.
enum Memory {
    /// Has the C library return what is freed to the system, so that one large value does not stay
    /// in the size of the daemon for the rest of the session.
    ///
    /// By default it raises its thresholds to the largest block it has seen, up to 32 MiB, keeps
    /// that much for the next, and has a heap for each thread. To be called before there is one.
    static func giveBackWhatIsFree() {
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_ARENA_MAX, 1)
    }
}
