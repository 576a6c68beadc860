import Foundation
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

    /// What runs a program so that it sees no other processes than its own; empty if the system allows
    /// nobody that.
    ///
    /// The tool looks at all processes of the user: it names those that still use another service. So what
    /// it says would depend on other tests, and on the desktop of whoever runs them.
    static let apart: [String] = {
        let alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        let ways = [alone, alone + ["--user", "--map-current-user"]]
        return ways.first { ProgramResult.run($0 + ["true"]).status == 0 } ?? []
    }()

    /// Runs a script of a shell in the session's directory, on a new bus, which ends with it.
    ///
    /// - Parameter variables: More of its environment.
    func run(_ script: String, adding variables: [String: String] = [:]) -> ProgramResult {
        ProgramResult.run(
            Self.apart + ["sh", "-c", Self.session, "cd \"$HOME\" || exit\n" + script],
            environment: environment.merging(variables) { $1 })
    }

    /// Runs the script in `$0`.
    ///
    /// The daemon ends after its bus, and holds the lock until then. What still runs after this shell is
    /// killed, if it is apart.
    private static let session = """
        dbus-run-session -- bash -c "$0"
        status=$?
        lock="$XDG_CONFIG_HOME/defaultsd/lock"
        [ ! -e "$lock" ] || flock "$lock" true
        exit $status
        """
}
