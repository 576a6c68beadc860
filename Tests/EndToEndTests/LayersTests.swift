import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// The layers that are made of files, by gdbus: effective values, and when a file takes effect.
@Suite(.startsPrograms, .serialized) struct LayersTests {
    let desktop: Desktop
    private static let app = "org.example.App"
    private static let global = "NSGlobalDomain"

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

    @Test func `The first layer of the search list that has the key is effective`() throws {
        let places: [Place] = [
            file("global-system", Self.global, .vendor), file("system", Self.app, .vendor),
            file("system", Self.app, .recommended), user("global", Self.global),
            user("global-host", Self.global + "@host"), user("domain", Self.app),
            user("host", Self.app + "@host"), file("global-managed", Self.global, .managed),
            file("managed", Self.app, .managed),
        ]
        _ = try desktop.daemonPID()
        #expect(desktop.call("Lookup", Self.app, "Key").errorName?.hasSuffix(".NotFound") == true)
        let monitor = try listen()
        for (index, place) in places.enumerated() {
            // Values in files lock the layers of the user, so these layers come first.
            try place.set()
            _ = try nextChange(monitor)
            #expect(lookup("Key") == "(<'\(place.value)'>, '\(place.layer)')\n", "\(index)")
        }
        let explained = try desktop.call("Explain", Self.app, "Key").requireOutput()
        let layers = explained.matches(of: /\('([\w-]+)', '(.*?)', (\w+),/).map {
            "\($0.1) \($0.2.split(separator: "/").suffix(2).joined(separator: "/")) \($0.3)"
        }
        #expect(
            layers == [
                "managed managed/org.example.App.json true",
                "global-managed managed/NSGlobalDomain.json true", "host  false",
                "domain  false", "global-host  false", "global  false",
                "system recommended/org.example.App.json false",
                "global-system vendor/NSGlobalDomain.json false",
            ])
        for (index, place) in places.enumerated().reversed() {
            #expect(lookup("Key") == "(<'\(place.value)'>, '\(place.layer)')\n", "\(index)")
            try place.remove()
            _ = try nextChange(monitor)
        }
        #expect(desktop.call("Lookup", Self.app, "Key").errorName?.hasSuffix(".NotFound") == true)
        monitor.send(SIGTERM)
    }

    /// Where a value can be set, and what `Key` is there.
    private typealias Place = (
        layer: String, value: String, set: () throws -> Void, remove: () throws -> Void
    )

    private func file(
        _ layer: String, _ domain: String, _ place: Desktop.LayerPlace
    ) -> Place {
        (
            layer, place.rawValue,
            { try desktop.write(#"{"Key": "\#(place)"}"#, to: "\(domain).json", in: place) },
            { try desktop.remove("\(domain).json", in: place) }
        )
    }

    private func user(_ layer: String, _ domain: String) -> Place {
        (
            layer, layer,
            { _ = try desktop.call("SetValue", domain, "Key", "<'\(layer)'>").requireOutput() },
            { _ = try desktop.call("Remove", domain, "Key").requireOutput() }
        )
    }

    @Test func `Calls of the search list accept no suffix, and the global domain is one`() throws {
        for method in ["Lookup", "LookupValue", "IsLocked", "Explain"] {
            let refused = desktop.call(method, "org.example.App@host", "Key")
            #expect(refused.errorName == "org.defaultsd.Defaults1.Error.InvalidDomain")
            #expect(refused.error.contains("byte 15"))
        }
        desktop.call("SetValue", Self.global, "Key", "<1>")
        #expect(lookup("Key", in: Self.global) == "(<int64 1>, 'domain')\n")
        #expect(
            desktop.call("Explain", Self.global, "Key").output
                .contains(/^\(\[\('domain', '', false, uint64 \d+\)\],\)\n$/))
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

    @Test func `A file with the same contents as before announces no change`() throws {
        try desktop.write(#"{"a": 1}"#, to: "org.example.App.json", in: .managed)
        #expect(lookup("a") == "(<int64 1>, 'managed')\n")
        let monitor = try listen()
        let generation = try desktop.property("Generation")
        try desktop.write(#"{ "a":1 }"#, to: "org.example.App.json", in: .managed)
        // The record of the files is another.
        try wait { try desktop.property("Generation") != generation }
        desktop.call("SetValue", Self.app, "end", "<1>")
        #expect(try nextChange(monitor).hasPrefix("org.example.App domain ['end']"))
        monitor.send(SIGTERM)
    }

    @Test
    func `A bad file is reported once, with its place, and its last good contents stay`() throws {
        try desktop.write(#"{"a": 1, "b": 1}"#, to: "org.example.App.json", in: .managed)
        try desktop.write(#"{"b": 2}"#, to: "org.example.App.d/10.json", in: .managed)
        #expect(lookup("b") == "(<int64 2>, 'managed')\n")
        let monitor = try listen()
        try desktop.write("{\n  \"b\": 3,\n  oops", to: "org.example.App.d/10.json", in: .managed)
        try desktop.write(#"{"a": 4, "b": 4}"#, to: "org.example.App.json", in: .managed)
        #expect(try nextChange(monitor) == "org.example.App managed ['a'] [] ")
        #expect(lookup("b") == "(<int64 2>, 'managed')\n")
        let place = desktop.path(of: "org.example.App.d/10.json", in: .managed) + ":3:3: "
        #expect(try logLines(containing: place).count == 1)
        let listed = desktop.gdbus("org.defaultsd.Maintenance1.ListLayerFiles").output
        #expect(listed.contains(place) && listed.contains("org.example.App.json', '')"))
        // Another start reports it again, and the values stay.
        try desktop.stopDaemon()
        #expect(lookup("b") == "(<int64 2>, 'managed')\n")
        #expect(try logLines(containing: place).count == 2)
        try desktop.write(#"{"b": 5}"#, to: "org.example.App.d/10.json", in: .managed)
        #expect(try nextChange(monitor) == "org.example.App managed ['b'] [] ")
        #expect(lookup("b") == "(<int64 5>, 'managed')\n")
        monitor.send(SIGTERM)
    }

    private func logLines(containing text: String) throws -> [Substring] {
        try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
            .split(separator: "\n").filter { $0.contains(text) }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `A start finds the changes made meanwhile, and nothing if there are none`(
        signal: Int32
    ) throws {
        try desktop.write(#"{"a": 1, "b": 1}"#, to: "org.example.App.json", in: .managed)
        try desktop.write(#"{"a": 1}"#, to: "org.example.Other.json", in: .vendor)
        _ = try desktop.daemonPID()
        let generation = try desktop.property("Generation")
        if signal == SIGTERM { try desktop.stopDaemon() } else { try desktop.killDaemon(signal) }
        #expect(try desktop.property("Generation") == generation)
        if signal == SIGTERM { try desktop.stopDaemon() } else { try desktop.killDaemon(signal) }
        try desktop.write(#"{"b": 2}"#, to: "org.example.App.json", in: .managed)
        try desktop.remove("org.example.Other.json", in: .vendor)
        let changes = desktop.call(
            "GetChanges", "org.example.App@managed",
            String((generation.split(separator: " ").last ?? "").filter(\.isNumber))
        ).output
        #expect(
            changes.contains("['a'], ") && changes.contains("'b'") && changes.hasSuffix("true)\n"))
        #expect(desktop.call("ListKeys", "org.example.Other@system").output == "(@as [],)\n")
        #expect(lookup("b") == "(<int64 2>, 'managed')\n")
    }

    @Test func `Property lists in both forms are read like JSON`() throws {
        let written = desktop.python(
            """
            import plistlib, sys, datetime
            for name, form in [("Xml", plistlib.FMT_XML), ("Binary", plistlib.FMT_BINARY)]:
                with open(f"{sys.argv[1]}/org.example.{name}.plist", "wb") as file:
                    plistlib.dump({"text": "ä", "flag": True, "list": [1, 2.5, b"x"],
                                   "$locked": ["Other*"]}, file, fmt=form)
            """, try directory(of: .managed))
        try #require(written.status == 0)
        for name in ["Xml", "Binary"] {
            #expect(
                desktop.call("GetAllValues", "org.example.\(name)@managed").output.hasPrefix(
                    "({'flag': <true>, 'list': <[<int64 1>, <2.5>, <[byte 0x78]>]>, 'text': <'ä'>}")
            )
            #expect(desktop.call("IsLocked", "org.example.\(name)", "Other1").output == "(true,)\n")
        }
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
