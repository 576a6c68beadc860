import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The second process of the daemon, which says who calls.
@Suite(.startsPrograms, .serialized) struct HelperTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// The processes that a process has started.
    private func children(of process: pid_t) throws -> [pid_t] {
        try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
            .split(separator: " ").compactMap { pid_t($0) }
    }

    private func helper(of daemon: pid_t) throws -> pid_t {
        let children = try children(of: daemon)
        try #require(children.count == 1, "\(children)")
        return children[0]
    }

    private static func hasEnded(_ process: pid_t) -> Bool {
        let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // Its parent may not have waited for it yet.
        return stat.map { $0.contains(") Z ") } ?? true
    }

    @Test func `It has nothing of the daemon but one end of a socket`() throws {
        let helper = try helper(of: desktop.daemonPID())
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(helper)/fd")
        let files = try names.map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(helper)/fd/\($0)")
        }
        #expect(files.filter { $0 != "/dev/null" }.map { $0.prefix(7) } == ["socket:"])
        let status = try String(contentsOfFile: "/proc/\(helper)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"))
        #expect(status.contains("Threads:\t1\n"))
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `It ends with the daemon, and not before it`(_ signal: Int32) throws {
        let daemon = try desktop.daemonPID()
        let helper = try helper(of: daemon)
        for number in [SIGTERM, SIGINT, SIGHUP] { kill(helper, number) }
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        #expect(try desktop.daemonPID() == daemon && !Self.hasEnded(helper))
        try desktop.killDaemon(signal)
        try wait { Self.hasEnded(helper) }
    }

    @Test func `If it is killed, another daemon serves, and nothing is lost`() throws {
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        for _ in 0..<3 {
            let daemon = try desktop.daemonPID()
            kill(try helper(of: daemon), SIGKILL)
            try wait { Self.hasEnded(daemon) }
            #expect(desktop.tool("read", "a.b", "key").output == "1\n")
        }
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.components(separatedBy: "has ended or does not answer").count == 4, "\(log)")
    }

    /// It is stopped, so that the daemon cannot know that it will not answer.
    @Test func `If it does not answer, a new caller counts as one in a sandbox`() throws {
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        let daemon = try desktop.daemonPID()
        let helper = try helper(of: daemon)
        kill(helper, SIGSTOP)
        defer { kill(helper, SIGKILL) }
        let answer = desktop.call("Get", "a.b", "key")
        #expect(answer.status != 0 && answer.error.contains("NotFound"), "\(answer)")
        try wait { Self.hasEnded(daemon) }
        #expect(desktop.tool("read", "a.b", "key").output == "1\n")
    }
}
