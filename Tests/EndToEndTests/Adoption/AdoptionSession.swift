import Foundation
import Glibc
import TestSupport
import Testing

/// A session of a user with real services: the bus finds its activation files as in a session of a
/// desktop, so the user's own files win over those of packages.
struct AdoptionSession {
    let directory: TemporaryDirectory
    private let environment: [String: String]

    init() throws {
        try ShippedPrograms.requireNew()
        directory = try TemporaryDirectory()
        let path = directory.path
        for folder in ["config", "data", "runtime", "share/dbus-1/services"] {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(folder)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        let system = ProcessInfo.processInfo.environment
        environment = [
            "PATH": "\(Desktop.programs):\(system["PATH"] ?? "/usr/bin:/bin")", "HOME": path,
            "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": "\(path)/config", "XDG_DATA_HOME": "\(path)/data",
            "XDG_RUNTIME_DIR": "\(path)/runtime", "XDG_DATA_DIRS": "\(path)/share",
            "XDG_CONFIG_DIRS": "\(path)/xdg",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)/no-system-bus",
        ]
        try install("org.defaultsd.Defaults1", running: "\(Desktop.programs)/defaultsd")
        if let xfconfd = XfconfDesktop.xfconfd { try install("org.xfce.Xfconf", running: xfconfd) }
    }

    private func install(_ name: String, running program: String) throws {
        try "[D-BUS Service]\nName=\(name)\nExec=\(program)\n".write(
            toFile: "\(directory.path)/share/dbus-1/services/\(name).service", atomically: true,
            encoding: .utf8)
    }

    /// Runs a script of a shell in the session's directory, on a new bus, which ends with it.
    ///
    /// - Parameter variables: More of its environment.
    func run(_ script: String, adding variables: [String: String] = [:]) -> ProgramResult {
        defer { waitForDaemon() }
        return ProgramResult.run(
            ["dbus-run-session", "--", "bash", "-c", "cd \"$HOME\" || exit\n" + script],
            environment: environment.merging(variables) { $1 })
    }

    /// The daemon ends after its bus, and holds the lock until then.
    private func waitForDaemon() {
        let lock = open("\(directory.path)/config/defaultsd/lock", O_RDONLY | O_CLOEXEC)
        guard lock >= 0 else { return }
        flock(lock, LOCK_EX)
        close(lock)
    }
}
