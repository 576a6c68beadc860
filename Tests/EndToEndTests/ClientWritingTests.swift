import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Writes of the client library that do not wait.
@Suite(.startsPrograms, .serialized) struct ClientWritingTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func client() throws -> ClientProcess {
        try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
    }

    private func generation() throws -> UInt64 {
        try #require(UInt64(desktop.property("Generation").filter(\.isNumber).dropFirst(2)))
    }

    @Test func `Ten thousand writes in a row are a few calls`() throws {
        let client = try client()
        #expect(try client.ask("get Count") == "0")
        let before = try generation()
        try client.ask("set-many Count 10000")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Count", in: Self.app) == 10000)
        // Each call is a change with a generation of its own.
        let after = try generation()
        #expect((1...1000).contains(after - before), "\(after - before) calls")
    }

    @Test(arguments: [false, true])
    func `A program that sets a key and returns has lost nothing`(isRunning: Bool) throws {
        if isRunning { _ = try desktop.daemonPID() }
        for number in 1...5 {
            let result = desktop.run(ClientProcess.program, "leave", Self.app, "Key", "\(number)")
            #expect(result.status == 0, "\(result)")
            #expect(try desktop.number(forKey: "Key", in: Self.app) == number)
            if !isRunning { try desktop.stopDaemon() }
        }
    }

    @Test func `A refused key goes back to its value, and the rest of its call is accepted`()
        throws
    {
        let client = try client()
        try client.ask("set B 5")
        try client.ask("flush")
        // The library knows of no lock yet, so that the service is the one who refuses.
        let daemon = try desktop.daemonPID()
        try desktop.write(#"{"$locked": ["B", "D"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "B", in: Self.app)
        kill(daemon, SIGSTOP)
        try client.ask("set-all First A B C D E")
        kill(daemon, SIGCONT)
        #expect(try client.ask("flush") == "error locked")
        #expect(try client.ask("flush") == "done")
        let failures = [try client.event(), try client.event()].sorted()
        #expect(failures == ["failure write \(Self.app) B", "failure write \(Self.app) D"])
        #expect(try client.ask("get B") == "5")
        #expect(try client.ask("get D") == "0")
        for key in ["First", "A", "C", "E"] {
            #expect(try client.ask("get \(key)") == "1")
            #expect(try desktop.number(forKey: key, in: Self.app) == 1)
        }
        #expect(try client.ask("set-in B 9 domain") == "error locked")
        #expect(try client.ask("set-in B 9 managed") == "error notWritable")
    }

    @Test func `Other readers see a transaction completely, or not at all`() throws {
        let (writer, reader) = (try client(), try client())
        #expect(try reader.ask("get A") == "0")
        try writer.tell("commit-pairs A B 3000")
        #expect(try reader.ask("pair A B 200000") == "0")
        #expect(try writer.answer() == "done")
        #expect(try reader.ask("get B") == "3000")
        try desktop.write(#"{"$locked": ["B"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.awaitLock(of: "B", in: Self.app)
        #expect(try writer.ask("commit A=1 B=1").hasPrefix("error"))
        try writer.ask("apply A=2 B=2")
        #expect(try writer.event() == "failure write \(Self.app) A,B")
        for client in [writer, reader] { #expect(try client.ask("get A") == "3000") }
    }

    @Test func `Two processes that count on the same key lose no increment`() throws {
        let (one, other) = (try client(), try client())
        try one.tell("increment Count 200")
        try other.tell("increment Count 200")
        #expect(try one.answer() == "done")
        #expect(try other.answer() == "done")
        #expect(try desktop.number(forKey: "Count", in: Self.app) == 400)
        #expect(try one.ask("get Count") == "400")
    }

    @Test func `After synchronizing, the changes are on disk`() throws {
        let client = try client()
        try client.ask("set Key 5")
        try client.ask("synchronize")
        let daemon = try desktop.daemonPID()
        kill(daemon, SIGSTOP)
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime/defaultsd")
        kill(daemon, SIGKILL)
        try wait { kill(daemon, 0) != 0 }
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 5)
        #expect(try client.ask("get Key") == "5")
        try client.ask("set Key 6")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 6)
    }
}
