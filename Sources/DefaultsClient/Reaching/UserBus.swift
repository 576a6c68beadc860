import CLinux
import Glibc
import SystemCalls

/// Buses of this user, whatever the environment of this process says.
///
/// A second session of the user finds the service there: a job of cron, `sudo -u`, a shell below
/// `dbus-run-session`.
enum UserBus {
    /// The addresses where the service may run, besides the one that the environment names.
    ///
    /// - Parameter database: The database that the service has to have.
    /// - Returns: None if this program has more rights than its caller, who chose the environment.
    static func addresses(for database: ExpectedDatabase) -> [String] {
        guard !hasMoreRights else { return [] }
        let known = [
            database.holder?.busAddress, variable("XDG_RUNTIME_DIR").flatMap(address),
            standardAddress,
        ]
        return known.compactMap(\.self).reduce(into: []) { addresses, address in
            if !isSession(address), !addresses.contains(address) { addresses.append(address) }
        }
    }

    /// The address of the bus that systemd keeps for the user, if the environment names another bus or
    /// none.
    static var standardAddress: String? {
        guard !hasMoreRights, let address = address(in: "/run/user/\(geteuid())") else {
            return nil
        }
        return isSession(address) ? nil : address
    }

    /// Whether this program has more rights than its caller, as one with the set-user-ID bit.
    static var hasMoreRights: Bool { getauxval(UInt(AT_SECURE)) != 0 }

    /// The address of the bus in a runtime directory.
    ///
    /// - Returns: Nil if there is none, or if it is not certain to be this user's: the directory and the
    ///   socket must belong to the user, and be no symbolic links.
    static func address(in runtimeDirectory: String) -> String? {
        let path = "\(runtimeDirectory)/bus"
        guard isOwn(runtimeDirectory, .directory), isOwn(path, .socket) else { return nil }
        return "unix:path=\(path)"
    }

    private static func isOwn(_ path: String, _ kind: FileStatus.Kind) -> Bool {
        let status = FileStatus.ifAny(path, followingLinks: false)
        return status?.kind == kind && status?.owner == geteuid()
    }

    /// Whether the environment names this bus as that of the session.
    private static func isSession(_ address: String) -> Bool {
        if let named = variable("DBUS_SESSION_BUS_ADDRESS"), !named.isEmpty {
            return named.split(separator: ";").contains {
                $0 == address || $0.hasPrefix("\(address),")
            }
        }
        return variable("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" == address } ?? false
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
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
    init(variable: (String) -> String? = UserBus.variable) {
        func path(_ name: String) -> String? {
            variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let own = Self.homeOfUser
        // sudo may keep the HOME of its caller, which is of no use to another user.
        let home = path("HOME").flatMap { own == nil || Self.isOwn($0) ? $0 : nil } ?? own
        let config = path("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }
        directory = config.map { "\($0)/defaultsd" }
        isStandard = config != nil && config == own.map { "\($0)/.config" }
    }

    /// Whether a daemon has this database.
    ///
    /// - Parameter databasePath: What the daemon says about itself: the file.
    func isThat(of databasePath: String) -> Bool {
        guard let directory, let slash = databasePath.lastIndex(of: "/") else { return false }
        let other = String(databasePath[..<slash])
        guard let one = FileIdentity(of: directory), let two = FileIdentity(of: other) else {
            return directory == other
        }
        return one == two
    }

    private static func isOwn(_ directory: String) -> Bool {
        FileStatus.ifAny(directory)?.owner == geteuid()
    }

    /// The home directory that the system has for the user.
    static var homeOfUser: String? {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // The record's strings are in the buffer.
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        let code = getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found)
        guard code == 0, found != nil, let directory = record.pw_dir else { return nil }
        return String(cString: directory)
    }
}

extension ExpectedDatabase {
    /// A daemon that has locked the database.
    struct Holder {
        fileprivate let process: Int32

        /// The session bus that the daemon's environment names; nil if it names none, or if the process
        /// is no daemon of this user.
        var busAddress: String? {
            guard isDaemon else { return nil }
            let name = "DBUS_SESSION_BUS_ADDRESS="
            return SmallFile.contents(of: "/proc/\(process)/environ")?.split(separator: 0)
                .map { String(decoding: $0, as: UTF8.self) }
                .first { $0.hasPrefix(name) && $0 != name }
                .map { String($0.dropFirst(name.count)) }
        }

        /// Whether the process is a daemon of this user, and not another that got its number.
        private var isDaemon: Bool {
            guard FileStatus.ifAny("/proc/\(process)")?.owner == geteuid() else { return false }
            let name = SmallFile.contents(of: "/proc/\(process)/comm") ?? []
            return String(decoding: name, as: UTF8.self) == "defaultsd\n"
        }
    }

    /// The daemon on this machine that the lock's file names.
    ///
    /// It may have ended since.
    var holder: Holder? {
        guard let directory, let bytes = SmallFile.contents(of: "\(directory)/lock") else {
            return nil
        }
        let words = bytes.split(separator: UInt8(ascii: "\n")).first?.split(
            separator: UInt8(ascii: " "))
        guard let words, words.count == 2,
            String(decoding: words[0], as: UTF8.self) == HostName.current,
            let process = Int32(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        return Holder(process: process)
    }
}

/// Files that are read in one piece.
private enum SmallFile {
    private static let limit = 1 << 17

    /// The first bytes of a file of this user; nil if it cannot be read.
    static func contents(of path: String) -> [UInt8]? {
        guard let file = try? File.regular(path, O_RDONLY | O_NOFOLLOW),
            (try? file.status())?.owner == geteuid(), let bytes = try? file.read(limit, at: 0)
        else { return nil }
        return bytes.isEmpty ? nil : bytes
    }
}
