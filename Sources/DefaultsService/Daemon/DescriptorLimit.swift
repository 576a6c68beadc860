import Glibc

/// How many files this process may have open.
enum DescriptorLimit {
    /// What the daemon needs to serve a few programs.
    ///
    /// With fewer it could not examine its callers, and would take each of them for a program in a sandbox.
    private static let least = 64

    /// The limit now; 0 if the system does not say.
    static var current: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit as far as the system allows.
    ///
    /// - Parameter wanted: The highest limit that is of use.
    /// - Throws: ``LifeCycleError`` if the daemon cannot serve with it.
    static func raise(to wanted: Int) throws(LifeCycleError) {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < rlim_t(wanted) {
            limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
            // The service manager may forbid it, and has set a limit itself.
            _ = setrlimit(resource, &limit)
        }
        guard current >= least else { throw .tooFewDescriptors(current, least: least) }
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
