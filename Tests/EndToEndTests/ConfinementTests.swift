import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What the daemon cannot do any more when it serves.
@Suite(.startsPrograms) struct ConfinementTests {
    /// What the kernel says of a process or a thread.
    private func status(_ path: String) throws -> String {
        try String(contentsOfFile: "\(path)/status", encoding: .utf8)
    }

    private func isFiltered(_ path: String) throws -> Bool {
        let status = try status(path)
        return status.contains("\nNoNewPrivs:\t1\n") && status.contains("\nSeccomp:\t2\n")
    }

    @Test func `All threads of the daemon have the filter`() throws {
        let desktop = try Desktop()
        // Long calls have threads that start with the first of them.
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        #expect(desktop.tool("find", "key").status == 0)
        let process = "/proc/\(try desktop.daemonPID())"
        let threads = try FileManager.default.contentsOfDirectory(atPath: "\(process)/task")
        #expect(threads.count > 1)
        for thread in threads { #expect(try isFiltered("\(process)/task/\(thread)")) }
    }

    @Test func `It is left out for sanitizers if the environment says so`() throws {
        let desktop = try Desktop()
        let daemon = try desktop.startDaemon(by: "env", "DEFAULTSD_UNCONFINED=1")
        let process = "/proc/\(daemon.processIdentifier)"
        #expect(try status(process).contains("\nSeccomp:\t0\n"))
        let children = "\(process)/task/\(daemon.processIdentifier)/children"
        #expect(try String(contentsOfFile: children, encoding: .utf8) == "")
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        #expect(desktop.tool("read", "a.b", "key").output == "1\n")
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
    }

    @Test func `A daemon of one program has it, too`() throws {
        let desktop = try Desktop()
        let output = desktop.python(
            """
            \(PeerTests.python)
            # The daemon is confined before it answers its first call.
            call("ListDomains", "()")
            status = open(f"/proc/{daemon.pid}/status").read()
            print("done" if "\\nSeccomp:\\t2\\n" in status else status)
            peer.close_sync(None)
            daemon.wait()
            """, Desktop.programs + "/defaultsd")
        #expect(output.output == "done\n", "\(output)")
    }

    @Test(.enabled(if: ConfinedProgram.hasLandlock, "the kernel has no Landlock"))
    func `A link in its directory leads it to no file elsewhere`() throws {
        let desktop = try Desktop()
        #expect(desktop.tool("write", "a.b", "key", "1").status == 0)
        #expect(desktop.tool("sync").status == 0)
        let outside = desktop.directory.path + "/outside"
        try FileManager.default.createDirectory(
            atPath: outside, withIntermediateDirectories: false)
        try FileManager.default.moveItem(
            atPath: desktop.databasePath, toPath: desktop.databasePath + ".moved")
        #expect(symlink(outside + "/file", desktop.databasePath) == 0)
        #expect(desktop.tool("write", "a.b", "key", "2").status == 0)
        let refused = desktop.tool("sync")
        #expect(refused.status != 0 && refused.error.contains("Permission denied"), "\(refused)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        // What was acknowledged is not lost.
        #expect(unlink(desktop.databasePath) == 0)
        #expect(desktop.tool("sync").status == 0)
        try desktop.killDaemon(SIGKILL)
        #expect(desktop.tool("read", "a.b", "key").output == "2\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
    }

    @Test func `Its directories are made again as often as somebody removes them`() throws {
        let desktop = try Desktop()
        let daemon = try desktop.daemonPID()
        for number in 1...3 {
            for directory in ["/config", "/runtime/defaultsd"] {
                try FileManager.default.removeItem(atPath: desktop.directory.path + directory)
            }
            #expect(desktop.tool("write", "a.b", "key", "\(number)").status == 0)
            #expect(desktop.tool("sync").status == 0)
            #expect(desktop.tool("backup", "now").status == 0)
            #expect(FileManager.default.fileExists(atPath: desktop.databasePath))
        }
        #expect(try desktop.daemonPID() == daemon)
        try desktop.killDaemon(SIGKILL)
        #expect(desktop.tool("read", "a.b", "key").output == "3\n")
    }

    // MARK: The same confinement in a program that tries everything

    @Test(.enabled(if: ConfinedProgram.hasLandlock, "the kernel has no Landlock"))
    func `Its own directories can be used, and those of the layers read`() throws {
        let attempts = try ConfinedProgram()
        for what in [
            "read own", "write own", "make own", "rename own", "remove own", "make own directory",
            "make below own directory", "list layer", "read layer", "make a local socket",
            "make a thread",
        ] {
            #expect(attempts.first[what] == "done", "\(what)")
        }
        for what in [
            "make own again", "make own file again", "read own", "rename own", "list layer",
        ] {
            #expect(attempts.again[what] == "done", "\(what)")
        }
        #expect(attempts.failures == [])
    }

    @Test(.enabled(if: ConfinedProgram.hasLandlock, "the kernel has no Landlock"))
    func `No other file can be used, whatever was removed and made again`() throws {
        let attempts = try ConfinedProgram()
        let refused = [
            "write layer", "make layer", "read outside", "list outside", "write outside",
            "make outside", "rename outside", "rename to outside", "remove outside",
            "make outside directory", "read by link", "make by link", "remove by link",
            "read by dots", "read by dots of a layer", "read memory of the parent",
        ]
        let errors = [EACCES, EXDEV, ELOOP, ENOTDIR, ENOENT, EMEDIUMTYPE].map { "\($0)" }
        for what in refused {
            for outcome in [attempts.first[what], attempts.again[what]] {
                #expect(errors.contains(outcome ?? ""), "\(what): \(outcome ?? "not tried")")
            }
        }
        #expect(attempts.leftOutside == ["file"])
    }

    @Test func `It makes no process, no socket of the network and no code`() throws {
        let attempts = try ConfinedProgram()
        for what in [
            "run a program", "make a process", "make a socket of the network", "signal the parent",
            "make memory code", "make a link", "change the root",
        ] {
            #expect(attempts.first[what] == "\(EPERM)", "\(what)")
        }
    }
}

/// A program that confines itself as the daemon does, and tells what it can do then.
private struct ConfinedProgram {
    /// What was tried, with "done" or the number of the error.
    private(set) var first: [String: String] = [:]
    /// The same after its directory was removed and made again.
    private(set) var again: [String: String] = [:]
    /// What of the confinement could not be done.
    private(set) var failures: [String] = []
    /// The names in the directory that it may not use.
    let leftOutside: [String]

    init() throws {
        let directory = try TemporaryDirectory()
        let places = try ["own", "layer", "outside"].map { name in
            let place = "\(directory.path)/\(name)"
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: false)
            _ = try directory.write("contents\n", to: "\(name)/file")
            return place
        }
        symlink(places[2] + "/file", places[0] + "/link")
        symlink(places[2], places[0] + "/links")
        let output = try ProgramResult.run([Desktop.builtProgram("ConfinedProgram")] + places)
            .requireOutput()
        var isAgain = false
        for line in output.split(separator: "\n") {
            let words = line.split(separator: ":", maxSplits: 1).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            switch words[0] {
            case "again": isAgain = true
            case "failure": failures.append(words[1])
            case let what where isAgain: again[what] = words[1]
            case let what: first[what] = words[1]
            }
        }
        leftOutside = try FileManager.default.contentsOfDirectory(atPath: places[2])
    }

    /// Whether the kernel can confine the use of files.
    static let hasLandlock =
        ProgramResult.run([
            "/usr/bin/python3", "-c",
            // The version of landlock_create_ruleset(2).
            "import ctypes; assert ctypes.CDLL(None).syscall(444, None, 0, 1) > 0",
        ]).status == 0
}
