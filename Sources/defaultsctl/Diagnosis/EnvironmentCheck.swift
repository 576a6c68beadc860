import DBus
@preconcurrency import Glibc
import SystemCalls

/// Looks at the variables that say where everything is.
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
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"]
        let relative = names.filter { name in
            Places.variable(name).map { !$0.isEmpty && !$0.hasPrefix("/") } ?? false
        }
        guard relative.isEmpty else {
            return [
                .warning(
                    "environment",
                    "\(relative.joined(separator: ", ")) is no absolute path and counts as unset.",
                    "Set it to an absolute path, or unset it.")
            ]
        }
        return [.ok("environment", "The variables name absolute paths.")]
    }

    /// What a crash journal needs at least, in bytes.
    private static let leastSpace: UInt = 1 << 20

    private func runtimeDirectory() -> Finding {
        let subject = "runtime directory"
        let beside = "so the crash journal stands on disk, beside the database"
        guard let runtime = places.runtime else {
            return .warning(
                subject, "XDG_RUNTIME_DIR is not set, \(beside).",
                "Log in by way of pam_systemd or elogind, or set it to a directory in memory.")
        }
        let status: FileStatus
        do {
            status = try FileStatus(of: runtime)
        } catch {
            return .warning(
                subject, "\(runtime) cannot be used (\(error.reason)), \(beside).",
                "Log in anew, or make it: mkdir -m 700 \(ShellWord.quoted(runtime))")
        }
        guard status.kind == .directory else {
            return .warning(
                subject, "\(runtime) is no directory, \(beside).",
                "Set XDG_RUNTIME_DIR to a directory of your own in memory, or log in anew.")
        }
        guard status.owner == geteuid() else {
            return .warning(
                subject, "\(runtime) is another user's, \(beside).",
                "Set XDG_RUNTIME_DIR to your own; sudo and su may have kept that of another user.")
        }
        guard status.mode & 0o077 == 0 else {
            return .warning(
                subject, "\(runtime) lets other users in.",
                "chmod 700 \(ShellWord.quoted(runtime))")
        }
        var space = statvfs()
        if statvfs(runtime, &space) == 0, space.f_bavail * space.f_frsize < Self.leastSpace {
            return .warning(
                subject, "\(runtime) is full, \(beside).",
                "Remove files below it, or restart the programs that fill it.")
        }
        return .ok(subject, runtime)
    }
}
