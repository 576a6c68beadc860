import Glibc

/// The bus of the user whose rights this process has: the one that systemd keeps for all sessions of a
/// user, whatever the environment of this process says.
///
/// A second session of the user finds the service there: a job of cron, `sudo -u`, a shell below
/// `dbus-run-session`.
struct UserBus {
    /// The socket.
    let path: String

    /// The address of the socket.
    var address: String { "unix:path=\(path)" }

    /// Finds the bus.
    ///
    /// - Parameter directory: Where the runtime directories of users are.
    /// - Returns: Nil if there is none, or if it is not certain to be this user's: the directory and the
    ///   socket must belong to the user, and be no symbolic links.
    init?(below directory: String = "/run/user") {
        let user = geteuid()
        let runtime = "\(directory)/\(user)"
        path = "\(runtime)/bus"
        guard Self.isOwn(runtime, S_IFDIR, user), Self.isOwn(path, S_IFSOCK, user) else {
            return nil
        }
    }

    /// Whether a bus address names this very socket.
    func isNamed(by address: String) -> Bool {
        address.split(separator: ";").contains {
            $0 == self.address || $0.hasPrefix("\(self.address),")
        }
    }

    private static func isOwn(_ path: String, _ type: mode_t, _ user: uid_t) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == type && status.st_uid == user
    }
}

/// The database that a daemon with this process's environment would open.
struct ExpectedDatabase {
    /// The directory; nil if the environment names none.
    let directory: String?
    /// Whether a daemon of the user's own session would open the same: the environment names no other
    /// place than the user's home.
    let isStandard: Bool

    /// Reads the environment; see the [XDG Base Directory
    /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
    init(variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
        func path(_ name: String) -> String? {
            variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = path("HOME")
        let standard = Self.homeOfUser.map { "\($0)/.config" }
        let config = path("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }
        directory = config.map { "\($0)/defaultsd" }
        isStandard = config != nil && config == standard
    }

    /// Whether a daemon has this database.
    ///
    /// - Parameter databasePath: What the daemon says of itself: the file.
    func isThat(of databasePath: String) -> Bool {
        guard let directory, let slash = databasePath.lastIndex(of: "/") else { return false }
        let other = String(databasePath[..<slash])
        var (one, two) = (stat(), stat())
        guard stat(directory, &one) == 0, stat(other, &two) == 0 else { return directory == other }
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }

    /// The home directory that the system has for the user.
    private static var homeOfUser: String? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // The record's strings are in the buffer.
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        let code = getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found)
        guard code == 0, found != nil, let directory = record.pw_dir else { return nil }
        return String(cString: directory)
    }
}
