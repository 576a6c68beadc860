import Confinement
import DBus
import Glibc
package import SystemCalls

// Invariants
//
// 1. The daemon is confined before its first call is answered, and before it has a second thread.
// 2. Whatever the kernel lacks is left out. Nothing fails for it.
// 3. Without a helper there are no rules for files: the daemon could not identify its callers.

/// What the daemon gives up when its files and its bus are open.
package struct ServiceConfinement {
    /// The directories of the daemon, and those of the layers.
    private let places: FileKeeper.Places

    /// - Parameter places: Absolute paths.
    package init(_ places: FileKeeper.Places) {
        self.places = places
    }

    /// Whether the environment turns confinement off: a sanitizer or a debugger needs more rights than the
    /// daemon.
    static var isOff: Bool { getenv("DEFAULTSD_UNCONFINED") != nil }

    /// Files that the daemon and its libraries read, besides those in its places: what the kernel says
    /// about the process itself, the identity of the machine, and random numbers.
    private static let others = [
        "/proc/self", "/etc/machine-id", "/var/lib/dbus/machine-id", "/dev/urandom",
    ]

    /// Confines this process.
    ///
    /// - Parameter helper: What opens files in a place that was removed and made again; nil if there is no
    ///   helper.
    /// - Returns: What could not be done, for the log.
    package func begin(with helper: RequestSocket?) -> [SystemError] {
        var failures: [SystemError] = []
        if let helper, FileCalls.ask(helper, in: places) {
            do throws(SystemError) {
                try enforceRules()
            } catch {
                failures.append(error)
            }
        }
        do throws(SystemError) {
            try SystemCallFilter.ofDaemon(getpid()).apply()
        } catch {
            failures.append(error)
        }
        return failures
    }

    private func enforceRules() throws(SystemError) {
        let rules = try FileRules(confinesSockets: !Self.needsAbstractSockets)
        for path in places.own { rules.grant(.changing, on: path) }
        for path in places.read + Self.others { rules.grant(.reading, on: path) }
        try rules.enforce()
    }

    /// Whether the daemon still connects to sockets in the abstract namespace that others have made: that
    /// of the service manager, or of the machine's bus.
    ///
    /// It is connected to the bus of the session already.
    private static var needsAbstractSockets: Bool {
        let manager = getenv("NOTIFY_SOCKET").map { String(cString: $0) } ?? ""
        let words = Address.systemBus.split { ":,;".utf8.contains($0.asciiValue ?? 0) }
        return manager.hasPrefix("@") || words.contains { $0.hasPrefix("abstract=") }
    }
}
