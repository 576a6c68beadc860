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
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/task")
        #expect(threads.count == 2)
        let trace = desktop.run("timeout", "-s", "INT", "3", "strace", "-f", "-p", "\(daemon)")
            .error
        try #require(trace.contains("attached"), "strace could not attach: \(trace)")
        // Those that the threads are blocked in are shown without a result: they do not end.
        let calls = trace.split(separator: "\n").filter { $0.contains(") = ") }
        #expect(calls == [])
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
