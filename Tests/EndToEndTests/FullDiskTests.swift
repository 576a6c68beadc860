import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// A disk that refuses: a small file system of its own, filled to the last byte.
@Suite(
    .startsPrograms, .serialized, .enabled(if: geteuid() == 0, "mounting a file system takes root"))
final class FullDiskTests {
    let desktop: Desktop
    private let disk: String

    init() throws {
        desktop = try Desktop()
        disk = desktop.directory.path + "/config"
        try #require(
            desktop.run("mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", disk).status
                == 0)
    }

    deinit {
        desktop.bus.stop()
        // Lazily: the daemon that the end of the bus has ended may be on its last flush.
        desktop.run("umount", "--lazy", disk)
    }

    @Test func `SIGHUP retries at once even if the next attempt is a minute away`() throws {
        #expect(desktop.call("SetValue", "org.example.App", "Before", "<1>").status == 0)
        #expect(desktop.call("Synchronize").status == 0)
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")
        // More than the space that the log gives back.
        let large = String(repeating: "x", count: 100_000)
        for key in ["After", "Later", "Last"] {
            #expect(
                desktop.call("SetValue", "org.example.App", key, "<'\(large)'>").status == 0)
        }
        // Each failure doubles the wait for the next attempt, from a second up to a minute.
        for _ in 1...8 { #expect(desktop.call("Synchronize").status != 0) }
        try FileManager.default.removeItem(atPath: disk + "/filler")
        let daemon = try desktop.daemonPID()
        kill(daemon, SIGHUP)
        // Gives up before that minute is over.
        try wait { try desktop.property("DurableGeneration") == "<uint64 5>" }
        #expect(try desktop.daemonPID() == daemon)
    }

    @Test func `A change made while the disk refuses is NotDurable, and not StorageFailed`()
        throws
    {
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<1>").status == 0)
        #expect(desktop.call("Synchronize").status == 0)
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")
        let large = String(repeating: "x", count: 100_000)
        let notDurable = BadInputTests.own("NotDurable")
        for number in 1...4 {
            let answer = desktop.call(
                "ApplyValues", "org.example.App", "{'Key\(number)': <'\(large)'>}", "[]", "{}",
                "{'durable': <true>}")
            // The first may find room in the log.
            if number > 2 { #expect(answer.errorName == notDurable, "\(answer)") }
            #expect(desktop.call("GetValue", "org.example.App", "Key\(number)").status == 0)
        }
        #expect(desktop.call("Synchronize").errorName == notDurable)
        let written = desktop.tool("write", "--wait", "org.example.App", "Key", "-int", "2")
        #expect(written.status == 74)
        #expect(written.error.contains("not on disk yet"), "\(written.error)")
        #expect(desktop.tool("read", "org.example.App", "Key").output == "2\n")
        try FileManager.default.removeItem(atPath: disk + "/filler")
        #expect(desktop.call("Synchronize").status == 0)
    }

    @Test func `A document that holds in memory only is not success if it has to be on disk`()
        throws
    {
        let file = try desktop.directory.write(
            #"{"$defaults": 1, "owner": "me", "domains": {"org.example.App": {"Key": 1}}}"#,
            to: "document.json")
        #expect(desktop.tool("write", "--wait", "org.example.App", "Other", "1").status == 0)
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")
        let large = String(repeating: "x", count: 100_000)
        // The first may find room in the log.
        for number in 1...3 {
            desktop.tool("write", "org.example.App", "Key\(number)", large)
        }
        #expect(desktop.tool("apply", file).status == 0)
        for _ in 1...2 {
            let again = desktop.tool("apply", file, "--wait", "--changed")
            #expect(again.status == 74 && again.output.isEmpty, "\(again)")
        }
        try FileManager.default.removeItem(atPath: disk + "/filler")
        #expect(desktop.tool("apply", file, "--wait", "--changed").output == "unchanged\n")
    }

    @Test
    func `Without a bus a full disk refuses no reader, and the tool says where a change is kept`()
        throws
    {
        #expect(desktop.toolAlone("write", "org.example.App", "Key", "-string", "old").status == 0)
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")
        let large = String(repeating: "x", count: 100_000)
        let written = desktop.toolAlone("write", "org.example.App", "Key", "-string", large)
        #expect(written.status == 74)
        #expect(written.error.contains("The crash journal keeps the changes"), "\(written.error)")
        let read = desktop.toolAlone("read", "org.example.App", "Key")
        #expect(read.status == 0 && read.output == large + "\n", "\(read.error)")
        #expect(read.error.contains("The crash journal keeps the changes"), "\(read.error)")
        for answer in [written, read] {
            #expect(!answer.error.contains("on the bus"), "\(answer.error)")
        }
        try FileManager.default.removeItem(atPath: disk + "/filler")
        #expect(desktop.toolAlone("sync").status == 0)
    }

    @Test func `A bus that ends during a Synchronize ends the daemon in order`() throws {
        let daemon = try desktop.startDaemon()
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")
        #expect(desktop.call("SetValue", "org.example.App", "Key", "<1>").status == 0)
        // Stopped, it finds the call and the end of the bus at once when it goes on. The bus answers
        // in order, so the call has been passed on when the bus has said its own name twice.
        daemon.send(SIGSTOP)
        _ = try desktop.python(
            """
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            bus.call(name, path, name, "Synchronize", None, None, 0, -1, None, print)
            name, path = "org.freedesktop.DBus", "/org/freedesktop/DBus"
            for _ in range(2): bus.call_sync(name, path, name, "GetId", None, None, 0, -1, None)
            """
        ).requireOutput()
        try FileManager.default.removeItem(atPath: disk + "/filler")
        desktop.bus.stop()
        daemon.send(SIGCONT)
        try daemon.requireSuccess()
    }
}
