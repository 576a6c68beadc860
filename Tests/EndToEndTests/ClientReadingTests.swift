import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What applications read by the client library, in processes of their own.
@Suite(.startsPrograms, .serialized) struct ClientReadingTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func client(_ domain: String = app) throws -> ClientProcess {
        try ClientProcess(talkingOf: domain, in: desktop).whenCurrent()
    }

    @Test func `A change by another process is read at once, whoever makes it`() throws {
        let (one, other) = (try client(), try client())
        #expect(try one.ask("get Count") == "0")
        #expect(try one.ask("state") == "current")
        try other.ask("set Count 5")
        #expect(try other.ask("get Count") == "5")
        try other.ask("flush")
        #expect(try one.ask("get Count") == "5")
        try desktop.setNumber(6, forKey: "Count", in: Self.app)
        #expect(try one.ask("get Count") == "6")
        #expect(try other.ask("get Count") == "6")
        desktop.tool("delete", Self.app, "Count")
        #expect(try one.ask("get Count") == "0")
        #expect(try one.ask("is-set Count") == "false")
    }

    @Test
    func `The strongest layer's value is effective, from the administrator to registered values`()
        throws
    {
        let client = try client()
        func expect(_ value: Int, from layer: String) throws {
            #expect(try client.ask("get Key") == "\(value)")
            #expect(try client.ask("layer Key") == layer)
        }
        try expect(0, from: "none")
        try client.ask("register Key 1")
        try expect(1, from: "registered")
        try desktop.write(#"{"Key": 2}"#, to: "NSGlobalDomain.json", in: .vendor)
        try desktop.awaitKeys(in: "NSGlobalDomain@system", "Key")
        try expect(2, from: "global-system")
        try desktop.write(#"{"Key": 3}"#, to: "\(Self.app).json", in: .recommended)
        try desktop.awaitKeys(in: "\(Self.app)@system", "Key")
        try expect(3, from: "system")
        for (number, layer) in [(4, "global"), (5, "global-host"), (6, "domain"), (7, "host")] {
            try client.ask("set-in Key \(number) \(layer)")
            try expect(number, from: layer)
            try client.ask("flush")
            try expect(number, from: layer)
        }
        try desktop.write(#"{"Key": 8}"#, to: "NSGlobalDomain.json", in: .managed)
        try desktop.awaitKeys(in: "NSGlobalDomain@managed", "Key")
        try expect(8, from: "global-managed")
        try desktop.write(#"{"Key": 9}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Key")
        try expect(9, from: "managed")
        for (number, layer) in [
            (1, "registered"), (2, "global-system"), (3, "system"), (4, "global"),
            (5, "global-host"), (6, "domain"), (7, "host"), (8, "global-managed"), (9, "managed"),
        ] {
            #expect(try client.ask("get-in Key \(layer)") == "\(number)", "\(layer)")
        }
        #expect(try client.ask("keys") == "Key")
        try desktop.remove("\(Self.app).json", in: .managed)
        try desktop.remove("NSGlobalDomain.json", in: .managed)
        try client.wait(for: "7", to: "get Key")
    }

    @Test
    func `Arguments have priority over the user's values, not the administrator's`() throws {
        try desktop.setNumber(1, forKey: "Key", in: Self.app)
        let client = try ClientProcess(["talk", Self.app, "-Key", "2"], in: desktop)
        #expect(try client.ask("get Key") == "2")
        #expect(try client.ask("layer Key") == "arguments")
        try client.ask("set Key 4")
        #expect(try client.ask("get Key") == "2")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 4)
        try desktop.write(#"{"Key": 3}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitKeys(in: "\(Self.app)@managed", "Key")
        #expect(try client.ask("get Key") == "3")
    }

    @Test func `A lock is reported when it is added and when it is removed`() throws {
        let client = try client()
        #expect(try client.ask("is-locked Key") == "false")
        try desktop.write(#"{"$locked": ["Ke*"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Key", in: Self.app)
        #expect(try client.ask("is-locked Key") == "true")
        #expect(try client.ask("is-locked Other") == "false")
        try desktop.remove("\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "Key", in: Self.app, isLocked: false)
        #expect(try client.ask("is-locked Key") == "false")
    }

    @Test func `Thousands of domains share the slots, and each has its own values`() throws {
        let count = 5000
        let sum = count * (count - 1) / 2
        let reader = try ClientProcess(["many", "\(count)", "org.example.Many"], in: desktop)
        try reader.tell("read")
        #expect(try reader.answer() == "0")
        let writer = try ClientProcess(["many", "\(count)", "org.example.Many"], in: desktop)
        try writer.tell("set")
        #expect(try writer.answer() == "\(sum)")
        try reader.tell("read")
        #expect(try reader.answer() == "\(sum)")
        try desktop.setNumber(1_000_000, forKey: "Count", in: "org.example.Many.D17")
        try reader.tell("read")
        #expect(try reader.answer() == "\(sum - 17 + 1_000_000)")
    }

    @Test func `A large value is fetched when it is read, and not cached`() throws {
        let (reader, writer) = (try client(), try client())
        let (values, length) = (24, 4_000_000)
        let idle = try #require(Int(writer.ask("own-kilobytes")))
        try writer.ask("set-lengths \(values) \(length)")
        for number in [0, 7, values - 1] {
            #expect(try reader.ask("length Long\(number)") == "\(length + number)")
        }
        // All of them would be 96 MB.
        #expect(try #require(Int(reader.ask("own-kilobytes"))) < idle + 60_000)
        #expect(try #require(Int(writer.ask("own-kilobytes"))) < idle + 60_000)
        try writer.ask("set-length Long7 100000")
        try writer.ask("flush")
        #expect(try reader.ask("length Long7") == "100000")
        try writer.ask("set-length Long7 3")
        try writer.ask("flush")
        #expect(try reader.ask("length Long7") == "3")
    }
}
