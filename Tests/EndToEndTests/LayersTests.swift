import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// When a file of an administrator or a vendor takes effect, in a daemon that is confined.
@Suite(.startsPrograms, .serialized) struct LayersTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    /// Starts to listen to signals.
    ///
    /// Changes after this returns are received.
    private func listen() throws -> ChildProcess {
        let monitor = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        return monitor
    }

    /// The next signal Changed without its generation, as `domain layer changed removed origin`.
    private func nextChange(_ monitor: ChildProcess) throws -> String {
        while let line = monitor.lines?.next() {
            guard
                let signal = line.firstMatch(
                    of: /Changed \('(.*)', '(\w+)', (\[.*\]|@as \[\]), (.*), uint64 \d+, '(.*)'\)/)
            else { continue }
            let lists = [signal.3, signal.4].map { $0.replacing("@as ", with: "") }
            return "\(signal.1) \(signal.2) \(lists[0]) \(lists[1]) \(signal.5)"
        }
        throw NeverCame()
    }

    private func lookup(_ key: String, in domain: String = app) -> String {
        desktop.call("LookupValue", domain, key).output
    }

    @Test func `A file takes effect while the daemon runs, and its changes are announced`() throws {
        _ = try desktop.daemonPID()
        let monitor = try listen()
        func write(_ text: String, _ file: String, _ place: Desktop.LayerPlace = .managed) throws {
            try desktop.write(text, to: file, in: place)
        }
        // The directory is not there before, nor is that of the drop-ins.
        try write(#"{"a": 1, "b": [true, {"$data": "AAE="}]}"#, "org.example.App.json")
        #expect(try nextChange(monitor) == "org.example.App managed ['a', 'b'] [] ")
        try write(#"{"b": 2, "c": 3}"#, "org.example.App.d/10.json")
        #expect(try nextChange(monitor) == "org.example.App managed ['b', 'c'] [] ")
        try write(#"{"b": 4}"#, "org.example.App.d/09.json")
        try write(#"{"d": 4, "e": 5}"#, "org.example.App.d/20.json")
        #expect(try nextChange(monitor) == "org.example.App managed ['d', 'e'] [] ")
        #expect(
            desktop.call("GetAllValues", "org.example.App@managed").output.hasPrefix(
                "({'a': <int64 1>, 'b': <int64 2>, 'c': <int64 3>, 'd': <int64 4>,"))
        try desktop.remove("org.example.App.d/10.json", in: .managed)
        #expect(try nextChange(monitor) == "org.example.App managed ['b'] ['c'] ")
        #expect(lookup("b") == "(<int64 4>, 'managed')\n")
        try FileManager.default.removeItem(
            atPath: desktop.path(of: "org.example.App.d", in: .managed))
        #expect(try nextChange(monitor) == "org.example.App managed ['b'] ['d', 'e'] ")
        // In place, as an editor does.
        let handle = try #require(
            FileHandle(forWritingAtPath: desktop.path(of: "org.example.App.json", in: .managed)))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(#"{"a": 1}"#.utf8))
        try handle.close()
        #expect(try nextChange(monitor) == "org.example.App managed [] ['b'] ")
        try FileManager.default.removeItem(atPath: desktop.path(of: "", in: .managed))
        #expect(try nextChange(monitor) == "org.example.App managed [] ['a'] ")
        try write(#"{"a": 6}"#, "org.example.App.json", .recommended)
        #expect(try nextChange(monitor) == "org.example.App system ['a'] [] ")
        try write(#"{"a": 6, "v": 7}"#, "org.example.App.json", .vendor)
        #expect(try nextChange(monitor) == "org.example.App system ['v'] [] ")
        monitor.send(SIGTERM)
    }

    @Test func `Links are followed, even to directories, and a change of one takes effect`()
        throws
    {
        let manager = FileManager.default
        let (one, two) = (desktop.directory.path + "/one", desktop.directory.path + "/two")
        for (index, directory) in [one, two].enumerated() {
            try manager.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try #"{"a": \#(index)}"#.write(
                toFile: directory + "/org.example.App.json", atomically: false, encoding: .utf8)
        }
        let managed = String(desktop.path(of: "", in: .managed).dropLast())
        try manager.createSymbolicLink(atPath: managed, withDestinationPath: "one")
        #expect(lookup("a") == "(<int64 0>, 'managed')\n")
        let monitor = try listen()
        // As a new generation of a system is switched to.
        try manager.createSymbolicLink(atPath: managed + ".new", withDestinationPath: two)
        #expect(rename(managed + ".new", managed) == 0)
        #expect(try nextChange(monitor) == "org.example.App managed ['a'] [] ")
        // A file that is a link, whose target is written in place.
        try #"{"b": 1}"#.write(toFile: one + "/target", atomically: false, encoding: .utf8)
        try manager.createSymbolicLink(
            atPath: managed + "/org.example.Other.json", withDestinationPath: "../one/target")
        #expect(try nextChange(monitor) == "org.example.Other managed ['b'] [] ")
        try #"{"c": 1}"#.write(toFile: one + "/target", atomically: false, encoding: .utf8)
        #expect(try nextChange(monitor) == "org.example.Other managed ['c'] ['b'] ")
        // The whole directory under another name.
        #expect(rename(two, two + ".old") == 0)
        #expect(try nextChange(monitor) == "org.example.App managed [] ['a'] ")
        monitor.send(SIGTERM)
    }

    private func directory(of place: Desktop.LayerPlace) throws -> String {
        let path = desktop.path(of: "", in: place)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test func `SIGHUP makes the daemon read the files again`() throws {
        _ = try directory(of: .managed)
        let target = desktop.directory.path + "/elsewhere"
        try #"{"a": 1}"#.write(toFile: target, atomically: false, encoding: .utf8)
        try desktop.write(#"{"a": 1}"#, to: "org.example.App.json", in: .managed)
        #expect(lookup("a") == "(<int64 1>, 'managed')\n")
        let monitor = try listen()
        // Written through a mapping: no event reports that before the file is closed.
        let path = desktop.path(of: "org.example.App.json", in: .managed)
        let file = open(path, O_RDWR | O_CLOEXEC)
        let bytes = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        bytes?.storeBytes(of: UInt8(ascii: "2"), toByteOffset: 6, as: UInt8.self)
        kill(try desktop.daemonPID(), SIGHUP)
        #expect(try nextChange(monitor) == "org.example.App managed ['a'] [] ")
        #expect(lookup("a") == "(<int64 2>, 'managed')\n")
        munmap(bytes, 8)
        close(file)
        monitor.send(SIGTERM)
    }
}
