import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The daemon as a process: its command line, its threads, its rest.
@Suite(.startsPrograms, .serialized) struct DaemonTests {
    @Test(arguments: [
        ["--unknown"], ["--database"], ["--database="], ["extra"],
    ])
    func `A wrong command line exits with 64 and one sentence`(arguments: [String]) throws {
        let answer = try Desktop().run([Desktop.programs + "/defaultsd"] + arguments)
        #expect(answer.status == 64)
        #expect(answer.error.split(separator: "\n").count == 1)
    }

    @Test func `--help and --version need no bus`() throws {
        let desktop = try Desktop()
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
        let daemon = Desktop.programs + "/defaultsd"
        #expect(
            desktop.run([daemon, "--version"], environment: environment).output
                .contains(/^defaultsd \d+\.\d+\.\d+\n$/))
        let help = desktop.run([daemon, "--help"], environment: environment)
        #expect(help.status == 0 && help.output.contains("--database DIR"))
        #expect(desktop.run([daemon], environment: environment).status == 69)
    }

    @Test func `--database keeps the database elsewhere`() throws {
        let desktop = try Desktop(daemonOptions: "\"--database=$XDG_CONFIG_HOME/else where\"")
        desktop.call("SetValue", "org.example.App", "Key", "<1>")
        #expect(
            FileManager.default.fileExists(
                atPath: desktop.directory.path + "/config/else where/defaults.db"))
    }

    @Test func `It has two threads, and makes no system call when idle`() throws {
        // Directories that nothing happens above, while other tests make theirs in the same place.
        let desktop = try Desktop(
            daemonOptions: "--managed /nowhere/m --recommended /nowhere/r --vendor /nowhere/v")
        desktop.call("SetValue", "org.example.App", "Key", "<1>")
        desktop.call("Synchronize")
        // The daily backup that follows is over when another has been made.
        #expect(desktop.gdbus("org.defaultsd.Maintenance1.BackUp").status == 0)
        let daemon = try desktop.daemonPID()
        var (before, now) = ([String](), try threads(of: daemon))
        #expect(now.count == 2)
        try wait {
            (before, now) = (now, try threads(of: daemon))
            return before == now && now.allSatisfy(Self.sleepsWithoutLimit)
        }
        #expect(try calls(of: daemon, on: desktop) { _ = try desktop.askBus("GetId") } == [])
    }

    /// For each thread the system call that it is blocked in, with its arguments and the place in the program,
    /// and how often it has been switched.
    private func threads(of daemon: pid_t) throws -> [String] {
        let place = "/proc/\(daemon)/task/"
        return try FileManager.default.contentsOfDirectory(atPath: place).sorted().map { thread in
            let call = try String(contentsOfFile: place + thread + "/syscall", encoding: .utf8)
            let status = try String(contentsOfFile: place + thread + "/status", encoding: .utf8)
            return call + status.split(separator: "\n").filter { $0.contains("ctxt") }.joined()
        }
    }

    /// Whether a thread is blocked in a call of epoll_wait or futex, whose fourth argument is how long it
    /// sleeps: without end.
    private static func sleepsWithoutLimit(_ thread: String) -> Bool {
        let words = thread.split(separator: " ")
        return words.count > 4 && ["0x0", "0xffffffff"].contains(words[4])
    }

    /// The system calls that a process makes while others use the bus.
    private func calls(
        of process: pid_t, on desktop: Desktop, during use: () throws -> Void
    ) throws -> [Substring] {
        let file = desktop.directory.path + "/trace"
        let strace = try desktop.trace(process, "--output=\(file)")
        for _ in 0..<100 { try use() }
        strace.send(SIGINT)
        strace.waitUntilExit()
        // Those that the threads are blocked in are shown without a result: they do not end.
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains(") = ") }
    }

    @Test func `Four thousand damaged archives do not stop it`() throws {
        let desktop = try Desktop()
        let daemon = try desktop.daemonPID()
        let output = try desktop.python(
            """
            \(Desktop.pythonArchive)
            import random
            random.seed(7)
            answered = 0
            for number in range(4000):
                damaged = bytearray(archive)
                for _ in range(random.randrange(1, 4)):
                    damaged[random.randrange(len(damaged))] = random.randrange(256)
                try:
                    service.Set("(ssay)", "org.example.App", "Key", bytes(damaged))
                    service.GetValue("(ss)", "org.example.App", "Key")
                except GLib.Error as error:
                    assert "org.defaultsd.Defaults1.Error." in error.message, error.message
                answered += 1
            print(answered)
            """
        ).requireOutput()
        #expect(output == "4000\n")
        #expect(try desktop.daemonPID() == daemon)
    }
}
