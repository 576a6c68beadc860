import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The table of the daemon's paths against what the system sees of a daemon.
@Suite(.startsPrograms) struct PathTableTests {
    /// How the calls that name a file end in strace's lines: a path from the root, or a name in an
    /// open directory.
    private static func paths(in trace: String) -> Set<String> {
        var paths: Set<String> = []
        for line in trace.split(separator: "\n") where !line.contains("ENOENT") {
            for match in line.matches(of: /(?:<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/) {
                let name = String(match.2)
                if name.isEmpty { continue }
                if name.hasPrefix("/") {
                    paths.insert(name)
                } else if let directory = match.1 {
                    paths.insert("\(directory)/\(name)")
                }
            }
        }
        return paths
    }

    @Test(
        .enabled(
            if: ProgramResult.run(["strace", "-e", "trace=none", "true"]).status == 0,
            "strace cannot trace programs here"))
    func `The daemon uses no path that the table lacks`() throws {
        let desktop = try Desktop()
        let root = desktop.directory.path
        let app = "org.example.App"
        var used: Set<String> = []
        func live(_ body: () throws -> Void, _ end: Int32) throws {
            // Each thread has a file of its own: in one file, a call of one thread divides the line of
            // another, and its first part does not say whether the path is there.
            let traces = try TemporaryDirectory()
            let daemon = try desktop.startDaemon(
                by: "strace", "-ff", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-o",
                traces.path + "/trace")
            try body()
            try desktop.killDaemon(end)
            daemon.waitUntilExit()
            for name in try FileManager.default.contentsOfDirectory(atPath: traces.path) {
                let trace = try String(contentsOfFile: "\(traces.path)/\(name)", encoding: .utf8)
                used.formUnion(Self.paths(in: trace))
            }
        }
        try live(
            {
                try desktop.tool("write", app, "key", "-int", "1").requireOutput()
                try desktop.tool("sync").requireOutput()
                try desktop.tool("backup", "now").requireOutput()
                // The database is written again.
                try FileManager.default.removeItem(atPath: desktop.databasePath)
                try desktop.tool("write", app, "key", "-int", "2").requireOutput()
                try desktop.tool("sync").requireOutput()
                try desktop.tool("write", app, "other", "-int", "3").requireOutput()
                try desktop.tool("domains").requireOutput()
            }, SIGKILL)
        // The next one finds a journal, an unfinished segment, and a damaged database.
        let segment = try DaemonPath.unfinishedSegment.path(on: desktop)
        try Data("x".utf8).write(to: URL(filePath: segment))
        try Data("x".utf8).write(to: URL(filePath: desktop.databasePath))
        try live({ #expect(desktop.tool("read", app, "other").output == "3\n") }, SIGTERM)
        // And one has no runtime directory.
        try FileManager.default.removeItem(atPath: root + "/runtime/defaultsd")
        try Data().write(to: URL(filePath: root + "/runtime/defaultsd"))
        try live({ #expect(desktop.tool("read", app, "other").output == "3\n") }, SIGTERM)

        let ours = used.filter {
            $0.hasPrefix(root + "/config/defaultsd") || $0.hasPrefix(root + "/runtime/")
        }.map { String($0.dropFirst(root.count + 1)) }
        let known = try DaemonPath.allCases.map { ($0, try Regex($0.pattern)) }
        for path in ours.sorted() {
            #expect(known.contains { path.wholeMatch(of: $0.1) != nil }, "\(path)")
        }
        for (path, pattern) in known where path != .lateSegment {
            #expect(ours.contains { $0.wholeMatch(of: pattern) != nil }, "\(path) is not used")
        }
    }

    @Test func `Nothing is made outside of the daemon's directories`() throws {
        let desktop = try Desktop()
        let before = try Set(
            FileManager.default.contentsOfDirectory(atPath: desktop.directory.path))
        try desktop.tool("write", "org.example.App", "key", "-int", "1").requireOutput()
        try desktop.tool("backup", "now").requireOutput()
        try desktop.stopDaemon()
        let root = desktop.directory.path
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: root))
                .subtracting(before) == ["log"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: root + "/config") == ["defaultsd"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: root + "/runtime") == ["defaultsd"])
    }
}
