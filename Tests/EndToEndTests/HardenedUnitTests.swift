import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The unit with the drop-in of `make install HARDENED=1`, under a real systemd --user.
///
/// With DEFAULTSD_TESTS_HARDENED in the environment, all tests of the unit run so.
@Suite(
    .startsPrograms, .serialized,
    .enabled(if: UserManager.canHarden, "there is no systemd that may make namespaces here"))
struct HardenedUnitTests {
    /// Whose manager runs the unit: that of the tests, or an ordinary user, whose manager has no rights of
    /// its own to make namespaces.
    private static let users: [uid_t?] = geteuid() == 0 ? [nil, 33] : [nil]

    private func daemon(of manager: UserManager) throws -> pid_t {
        try #require(pid_t(manager.unit("show", "--property=MainPID", "--value")))
    }

    @Test(arguments: users)
    func `Its exposure is 2.0 or less, and the service runs in namespaces of its own`(
        user: uid_t?
    ) throws {
        let manager = try UserManager(isHardened: true, of: user)
        #expect(try manager.set("Key", "<1>") == "(uint64 2,)\n")
        #expect(manager.unit("is-active") == "active")
        let analysis = manager.run(
            "systemd-analyze", "--user", "--no-pager", "security", "defaultsd.service")
        let level = analysis.output.firstMatch(of: /exposure level for .*: (\d+\.\d)/)
            .flatMap { Double($0.1) }
        #expect(try #require(level, "\(analysis)") <= 2.0)
        let daemon = try daemon(of: manager)
        for name in ["user", "mnt", "net", "ipc"] {
            let namespaces = try ["self", "\(daemon)"].map {
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/ns/\(name)")
            }
            #expect(namespaces[0] != namespaces[1], "\(name)")
        }
        let status = try String(contentsOfFile: "/proc/\(daemon)/status", encoding: .utf8)
        #expect(status.contains("\nCapBnd:\t0000000000000000\n"))
    }

    @Test(arguments: users)
    func `A program in no sandbox may do everything, and one in a sandbox may not`(
        user: uid_t?
    ) throws {
        let manager = try UserManager(isHardened: true, of: user)
        _ = try manager.set("Key", "<1>")
        #expect(manager.tool("read", "org.example.App", "Key").output == "1\n")
        // Maintenance is for programs outside of any sandbox.
        #expect(manager.tool("backup", "now").status == 0)
        let tool = manager.path + "/.local/bin/defaultsctl"
        let sandboxed = manager.run(
            "bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", tool, "read",
            "org.example.App", "Key")
        #expect(sandboxed.status != 0 && sandboxed.error.contains("does not exist"), "\(sandboxed)")
        // The writer is known by the process outside, too.
        let writers = manager.run(
            "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1", "--object-path",
            "/org/defaultsd/Defaults1", "--method", "org.defaultsd.Maintenance1.ListWriters")
        #expect(writers.output.contains("/gdbus', uint64 1)"), "\(writers)")
    }

    @Test(arguments: users)
    func `Files outside of its directories are not even writable to it`(user: uid_t?) throws {
        let manager = try UserManager(isHardened: true, of: user)
        _ = try manager.set("Key", "<1>")
        let process = try daemon(of: manager)
        let mounts = try String(contentsOfFile: "/proc/\(process)/mountinfo", encoding: .utf8)
        let root = try #require(
            mounts.split(separator: "\n").first { $0.split(separator: " ")[4] == "/" })
        #expect(root.split(separator: " ")[5].hasPrefix("ro"), "\(root)")
    }

    @Test(arguments: users)
    func `If the process that says who calls ends, the service starts again with another`(
        user: uid_t?
    ) throws {
        let manager = try UserManager(isHardened: true, of: user)
        _ = try manager.set("Key", "<1>")
        let process = try daemon(of: manager)
        let killed = manager.run(
            "systemctl", "--user", "kill", "--signal=SIGKILL", "defaultsd-helper@*")
        #expect(killed.status == 0, "\(killed)")
        try wait { try daemon(of: manager) != process }
        #expect(try manager.get("Key") == "(<int64 1>, uint64 2)\n")
        #expect(manager.tool("read", "org.example.App", "Key").output == "1\n")
    }
}
