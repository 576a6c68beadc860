internal import CLinux
package import SystemCalls

// Invariants
//
// 1. A right that is not granted is denied. Rights hold for a directory and all below it, as it is
//    when they are granted: another directory that gets its name later has none.
// 2. Where the kernel does not know a right, it does not deny it. So an older kernel confines less,
//    and nothing fails that works with a newer one.
// 3. The rules bind the thread that enforces them, and those that it makes. So it is the only one.

/// What this process may do to files from some moment on, and that it has no network; see
/// [landlock(7)](https://man7.org/linux/man-pages/man7/landlock.7.html).
package struct FileRules {
    /// What a process may do to files.
    package struct Rights: OptionSet, Sendable {
        /// The bits of the kernel.
        package let rawValue: UInt64

        /// Makes rights from the bits of the kernel.
        package init(rawValue: UInt64) {
            self.rawValue = rawValue
        }

        private init(bits: UInt64...) {
            rawValue = bits.reduce(0) { $0 | 1 << $1 }
        }

        /// Reading files and directories.
        package static let reading = Rights(bits: 2, 3)
        /// Reading and writing, and making and removing files, directories and sockets.
        package static let changing: Rights = [
            reading, Rights(bits: 1, 4, 5, 7, 8, 9, 14),
        ]
        /// What can be granted on a file that is no directory.
        fileprivate static let ofFiles = Rights(bits: 0, 1, 2, 14, 15)

        /// All that a version of the interface knows.
        fileprivate static func known(by version: Int32) -> Rights {
            let count = [13, 13, 14, 15, 15, 16][Int(min(version, 5))]
            return Rights(rawValue: 1 << UInt64(count) - 1)
        }
    }

    private let rules: FileDescriptor
    private let known: Rights

    /// Begins rules that grant nothing.
    ///
    /// - Parameter confinesSockets: Whether the process may connect only to such sockets in the abstract
    ///   namespace as it has made itself.
    /// - Throws: If the kernel has no Landlock.
    package init(confinesSockets: Bool) throws(SystemError) {
        let version = clinux_landlock_version()
        guard version > 0 else { throw .last("landlock_create_ruleset", "version") }
        known = Rights.known(by: version)
        // Binding and connecting of TCP; sockets of the abstract namespace, and signals to others.
        let network: UInt64 = version >= 4 ? 1 << 0 | 1 << 1 : 0
        let ways: UInt64 = version >= 6 ? (confinesSockets ? 1 << 0 : 0) | 1 << 1 : 0
        let rules = clinux_make_landlock(known.rawValue, network, ways)
        guard rules >= 0 else { throw .last("landlock_create_ruleset", "rules") }
        self.rules = FileDescriptor(owning: rules)
    }

    /// Grants rights on a file, or on a directory and all below it.
    ///
    /// What does not exist gets none.
    package func grant(_ rights: Rights, on path: String) {
        guard let file = try? File(path, File.pathOnly), let status = try? file.status() else {
            return
        }
        let possible = status.kind == .directory ? rights : rights.intersection(.ofFiles)
        _ = clinux_grant_landlock(
            rules.number, file.descriptor, possible.intersection(known).rawValue)
    }

    /// Binds this thread, and those that it makes.
    package func enforce() throws(SystemError) {
        guard clinux_gain_no_rights() == 0 else { throw .last("prctl", "no_new_privs") }
        guard clinux_enforce_landlock(rules.number) == 0 else {
            throw .last("landlock_restrict_self", "rules")
        }
    }
}
