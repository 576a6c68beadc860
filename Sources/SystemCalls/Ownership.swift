package import Glibc

/// Whose directories a process makes files in.
///
/// `sudo -E` and `su` may leave a process with the home and the runtime directory of another user. What it
/// makes there, that user's programs can neither change nor remove.
package enum Ownership {
    /// Whether a process makes files and directories in a directory.
    ///
    /// Not in that of another user. A directory of root's is for all whom its permissions let in, and so is
    /// one that is shared like `/tmp`.
    ///
    /// - Parameters:
    ///   - status: That of the directory.
    ///   - user: Who asks.
    package static func mayUse(_ status: FileStatus, as user: uid_t = geteuid()) -> Bool {
        mayUse(ownedBy: status.owner, status.mode, as: user)
    }

    package static func mayUse(ownedBy owner: uid_t, _ mode: mode_t, as user: uid_t) -> Bool {
        let isShared = mode & S_ISVTX != 0 && mode & S_IWOTH != 0
        return owner == user || owner == 0 || isShared
    }

    /// The directory of another user in which something would be made on the way to a path: the deepest one
    /// that exists.
    ///
    /// - Returns: Nil if it is not another user's, or if that cannot be seen.
    package static func obstacle(onTheWayTo path: String) -> Obstacle? {
        obstacle(at: Path.existing(onTheWayTo: path))
    }

    /// A directory if it is another user's; nil if it is not, or does not exist.
    package static func obstacle(at directory: String) -> Obstacle? {
        guard let status = FileStatus.ifAny(directory), !mayUse(status) else { return nil }
        return Obstacle(directory: directory, owner: status.owner)
    }

    /// A directory of another user.
    package struct Obstacle: Hashable, Sendable {
        /// Its path.
        package let directory: String
        /// Whose it is.
        package let owner: uid_t
    }
}
