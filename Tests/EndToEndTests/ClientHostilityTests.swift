import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What others do to a process that uses the library, and what it does to itself.
@Suite(.startsPrograms, .serialized) struct ClientHostilityTests {
    private static let app = "org.example.App"
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    // MARK: Stopped for a while

    /// Sets a key very often, and then to another number, which it waits for.
    private func setOften(_ count: Int, last: Int) throws {
        _ = try desktop.python(
            """
            import sys
            from gi.repository import Gio, GLib
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            name, path = "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1"
            def values(number): return GLib.Variant("(ssv)", (
                "org.example.App", "Key", GLib.Variant("x", number)))
            def call(number):
                bus.call_sync(name, path, name, "SetValue", values(number), None, 0, -1, None)
            for number in range(int(sys.argv[1])):
                message = Gio.DBusMessage.new_method_call(name, path, name, "SetValue")
                message.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
                message.set_body(values(1000 + number))
                bus.send_message(message, Gio.DBusSendMessageFlags.NONE)
                # Not more than may wait at the service.
                if number % 1000 == 999: call(number)
            call(int(sys.argv[2]))
            """, "\(count)", "\(last)"
        ).requireOutput()
    }

    @Test(arguments: ["watch Key", "get Key"])
    func `The first read after a stop, with a hundred thousand unread signals, is the newest`(
        command: String
    ) throws {
        try desktop.setNumber(5, forKey: "Key", in: Self.app)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
        _ = try client.ask(command)
        #expect(try client.ask("get Key") == "5")
        client.send(SIGSTOP)
        try setOften(100_000, last: 77)
        client.send(SIGCONT)
        #expect(try client.ask("get Key") == "77")
        #expect(try client.ask("state") == "current")
        #expect(try client.end() == 0)
    }

    // MARK: Forged signals

    /// Sends a signal Changed in the service's stead.
    private func forge(generation: String) throws {
        _ = try desktop.run(
            "gdbus", "emit", "--session", "--object-path", "/org/defaultsd/Defaults1", "--signal",
            "org.defaultsd.Defaults1.Changed", "'\(Self.app)'", "'domain'", "['Key']", "@as []",
            "uint64 \(generation)", "':1.1'"
        ).requireOutput()
    }

    private func calls() throws -> Int {
        let facts = try desktop.gdbus("org.defaultsd.Maintenance1.GetStatistics").requireOutput()
        return try #require(facts.firstMatch(of: /'Calls': <uint64 (\d+)>/).flatMap { Int($0.1) })
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable, "bwrap cannot make a sandbox here"))
    func `A forged signal causes no call by a sandboxed program`() throws {
        try desktop.setNumber(5, forKey: "Key", in: Self.app)
        try desktop.tool("grant", "*", "write", Self.app).requireOutput()
        let client = try ClientProcess(
            ["talk", Self.app], in: desktop, by: desktop.wholeSandbox())
        try client.wait(for: "following", to: "state")
        try forge(generation: "18446744073709551615")
        #expect(try client.ask("get Key") == "5")
        let before = try calls()
        for _ in 0..<50 { #expect(try client.ask("get Key") == "5") }
        // This one asks for the statistics.
        #expect(try calls() == before + 1)
        // The service itself is believed.
        try desktop.setNumber(6, forKey: "Key", in: Self.app)
        try client.wait(for: "6", to: "get Key")
        #expect(try client.end() == 0)
    }

    // MARK: Closed descriptors

    @Test(arguments: [0, 40])
    func
        `A program that closes all descriptors gets its answers, and nothing is written to its files`(
            opened: Int
        ) throws
    {
        try desktop.setNumber(5, forKey: "Key", in: Self.app)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
        #expect(try client.ask("get Key") == "5")
        let file = desktop.directory.path + "/of-the-application"
        #expect(try client.ask("close-all \(file) \(opened)") == "done")
        #expect(try client.ask("set Other 1") == "done")
        // Whether it is reached again by then or not, there is an end.
        let answer = try client.ask("flush 3")
        #expect(["done", "error unreachable"].contains(answer), "\(answer)")
        try client.wait(for: "current", to: "state")
        try client.wait(for: "done", to: "flush 3")
        #expect(try desktop.number(forKey: "Other", in: Self.app) == 1)
        try desktop.setNumber(6, forKey: "Key", in: Self.app)
        #expect(try client.ask("get Key") == "6")
        if opened > 0 {
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            #expect(size == 0)
        }
        #expect(try client.end() == 0)
    }
}
