import DBus
@preconcurrency import Glibc
import SystemCalls

/// Checks the environment variables for directories.
struct EnvironmentCheck {
    let places: Places

    func findings() -> [Finding] {
        variables() + [runtimeDirectory()]
    }

    private func variables() -> [Finding] {
        guard places.config != nil else {
            return [
                .problem(
                    "environment", "Neither HOME nor XDG_CONFIG_HOME is an absolute path.",
                    "Set HOME to your home directory.")
            ]
        }
        if let finding = foreignHome { return [finding] }
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"]
        let relative = names.filter { name in
            Defaultsctl.console.variable(name).map { !$0.isEmpty && !$0.hasPrefix("/") } ?? false
        }
        guard relative.isEmpty else {
            return [
                .warning(
                    "environment",
                    "\(relative.joined(separator: ", ")) is not an absolute path, so it is ignored.",
                    "Set it to an absolute path, or unset it.")
            ]
        }
        return [.ok("environment", "The variables name absolute paths.")]
    }

    /// The directory that the database is below is another user's; nil if it is not.
    var foreignHome: Finding? {
        let isConfig = Defaultsctl.console.variable("XDG_CONFIG_HOME")?.hasPrefix("/") == true
        let variable = isConfig ? "XDG_CONFIG_HOME" : "HOME"
        guard let directory = isConfig ? places.config : places.home,
            let obstacle = Ownership.obstacle(onTheWayTo: directory)
        else { return nil }
        return .problem(
            "environment",
            "\(variable) is \(directory), and \(obstacle.directory) belongs to another user, number "
                + "\(obstacle.owner). Programs of this user make nothing there, and have no defaults.",
            "Run this command as that user, or use 'sudo -H', which sets HOME.")
    }

    /// The least space that a crash journal needs, in bytes.
    private static let leastSpace: UInt = 1 << 20

    private func runtimeDirectory() -> Finding {
        let subject = "runtime directory"
        let beside = "so the crash journal is on disk, beside the database"
        let full = "so the crash journal goes to the disk, beside the database"
        guard let runtime = places.runtime else {
            return .warning(
                subject, "XDG_RUNTIME_DIR is not set, \(beside).",
                "Log in with pam_systemd or elogind, or set it to a directory in memory.")
        }
        let status: FileStatus
        do {
            status = try FileStatus(of: runtime)
        } catch {
            return .warning(
                subject, "\(runtime) cannot be used (\(error.reason)), \(beside).",
                "Log in again, or create it: mkdir -m 700 \(ShellWord.quoted(runtime))")
        }
        guard status.kind == .directory else {
            return .warning(
                subject, "\(runtime) is not a directory, \(beside).",
                "Set XDG_RUNTIME_DIR to a directory of your own in memory, or log in again.")
        }
        guard status.owner == geteuid() else {
            return .warning(
                subject, "\(runtime) belongs to another user, \(beside).",
                "Set XDG_RUNTIME_DIR to your own directory. sudo and su may have kept another user's."
            )
        }
        guard status.mode & 0o077 == 0 else {
            return .warning(
                subject, "Other users have access to \(runtime).",
                "chmod 700 \(ShellWord.quoted(runtime))")
        }
        var space = statvfs()
        if statvfs(runtime, &space) == 0, space.f_bavail * space.f_frsize < Self.leastSpace {
            return .warning(
                subject, "\(runtime) is full, \(full).",
                "Remove files in it, or restart the programs that fill it.")
        }
        return .ok(subject, runtime)
    }
}
