import Glibc
import TestSupport
import TestTiers
import Testing

/// Changes that applications learn of, across processes.
@Suite(.startsPrograms, .serialized) struct ClientChangesTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func client() throws -> ClientProcess {
        try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
    }

    @Test
    func `A change is reported with both values and its origin, and one's own only once`() throws {
        let (one, other) = (try client(), try client())
        try one.ask("watch Key")
        try one.ask("set Key 1")
        #expect(try one.event() == "change 0 1 own")
        try one.ask("flush")
        try other.ask("set Key 2")
        #expect(try one.event() == "change 1 2 foreign")
        // Other changes that were sent and acknowledged meanwhile have been reported to nobody.
        try one.ask("set Key 3")
        #expect(try one.event() == "change 2 3 own")
        try one.ask("flush")
        #expect(try other.ask("get Key") == "3")
        try other.ask("reset Key")
        #expect(try one.event() == "change 3 0 foreign")
        // A change of another key is reported to nobody.
        try other.ask("set Another 5")
        try other.ask("set Key 4")
        #expect(try one.event() == "change 0 4 foreign")
    }

    @Test func `Observing does not wait for a service that does not answer`() throws {
        let other = try client()
        try other.ask("set Key 1")
        try other.ask("flush")
        let daemon = try desktop.daemonPID()
        kill(daemon, SIGSTOP)
        defer { kill(daemon, SIGCONT) }
        let one = try ClientProcess(talkingOf: Self.app, in: desktop)
        try one.ask("watch Key")
        // A thread that had waited would have found it unreachable.
        #expect(try one.ask("state") == "connecting")
        kill(daemon, SIGCONT)
        #expect(try one.ask("get Key") == "1")
        try other.ask("set Key 2")
        #expect(try one.event() == "change 1 2 foreign")
    }

    @Test func `An observation gets a value that is too large for a signal`() throws {
        let (one, other) = (try client(), try client())
        try one.ask("observe-text Text")
        for size in [70_000, 200_000] {
            try other.ask("set-length Text \(size)")
            #expect(try one.event() == "text \(size)")
        }
        // It was read, so that it can be replaced.
        try one.ask("set-length Text 3")
        #expect(try one.event() == "text 3")
        try one.ask("flush")
        #expect(desktop.tool("read", Self.app, "Text").output == "aaa\n")
    }

    @Test func `A change that leaves the value as it was is not reported`() throws {
        let (one, other) = (try client(), try client())
        try one.ask("watch Key")
        // The default, as the user's own value and in other layers.
        try other.ask("set Key 0")
        for layer in ["global", "host"] {
            try other.ask("set-in Key 0 \(layer)")
            try other.ask("flush")
            #expect(try one.ask("get Key") == "0")
        }
        try one.ask("reset Key")
        try one.ask("set-in Key 1 host")
        #expect(try one.event() == "change 0 1 own")
    }

    @Test
    func `All changes of a domain are reported, with the layer that the value comes from`() throws {
        let (one, other) = (try client(), try client())
        try one.ask("watch-all")
        try other.ask("set A 1")
        #expect(try one.event() == "changed A domain foreign")
        try other.ask("set-in B 1 global")
        #expect(try one.event() == "changed B global foreign")
        try one.ask("set-in B 2 host")
        #expect(try one.event() == "changed B host own")
        try other.ask("flush")
        try desktop.write(#"{"A": 2}"#, to: "\(Self.app).json", in: .managed)
        #expect(try one.event() == "changed A managed foreign")
        // What is hidden by a stronger layer changes nothing.
        try desktop.setNumber(7, forKey: "B", in: Self.app)
        try other.ask("reset A")
        try desktop.remove("\(Self.app).json", in: .managed)
        #expect(try one.event() == "changed A domain foreign")
    }

    @Test func `An observer that writes the value that it received does not loop`() throws {
        let (one, other) = (try client(), try client())
        for client in [one, other] { try client.ask("watch-and-set Key Told") }
        for number in 1...20 {
            try one.ask("set Key \(number)")
            #expect(try one.event() == "change \(number - 1) \(number) own")
            #expect(try other.event() == "change \(number - 1) \(number) foreign")
            // It has written the number, and may have to send it: then the next one must come later.
            try other.ask("flush")
        }
        try one.ask("flush")
        try other.ask("flush")
        // Each counts its changes, and both have received twenty.
        let generation = try desktop.property("Generation")
        #expect(try one.ask("get Key") == "20")
        #expect(try desktop.property("Generation") == generation)
    }

    @Test func `A slow consumer gets the newest value, with the one that it saw last`()
        throws
    {
        let (one, other) = (try client(), try client())
        try one.ask("hold Key")
        try other.ask("set Key 1")
        #expect(try one.ask("next Key") == "change 0 1 foreign")
        try other.ask("set-many Key 200000")
        try other.ask("flush")
        #expect(try one.ask("get Key") == "200000")
        let before = try #require(Int(one.ask("own-kilobytes")))
        for number in 1...200 {
            try other.ask("set Key \(number)")
            try other.ask("flush")
            try one.wait(for: "\(number)", to: "get Key")
        }
        #expect(try #require(Int(one.ask("own-kilobytes"))) < before + 4000)
        #expect(try one.ask("next Key") == "change 1 200 foreign")
    }
}
