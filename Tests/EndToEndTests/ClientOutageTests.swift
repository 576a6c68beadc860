import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Applications whose service, or whose bus, is not there.
@Suite(.startsPrograms, .serialized) struct ClientOutageTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    @Test
    func `Without a bus the app uses registered values, and its changes arrive when the bus does`()
        throws
    {
        let bus = try RestartableBus(in: desktop, isRunning: false)
        let client = try ClientProcess(
            ["talk", Self.app], in: desktop, environment: bus.environment)
        try client.ask("register Key 7")
        #expect(try client.ask("get-thousands Key") == "7")
        #expect(try client.ask("state") == "unreachable")
        try client.ask("set Other 5")
        #expect(try client.ask("get-thousands Other") == "5")
        #expect(try client.ask("flush 1") == "error unreachable")
        #expect(try client.ask("is-locked Other") == "false")
        try bus.start()
        try client.wait(for: "current", to: "state")
        try client.ask("flush")
        #expect(
            desktop.run(
                [Desktop.programs + "/defaultsctl", "read", Self.app, "Other"],
                environment: bus.environment
            ).output == "5\n")
        #expect(try client.ask("get Key") == "7")
    }

    @Test
    func `A program without a bus ends at once, and loses only changes that nobody could take`()
        throws
    {
        let bus = try RestartableBus(in: desktop, isRunning: false)
        let result = desktop.run(
            HangGuard.command + [ClientProcess.program, "leave", Self.app, "Key", "5"],
            environment: bus.environment)
        #expect(result.status == 0, "\(result)")
    }

    @Test func `Changes that were made while the bus was away are sent to the next one`() throws {
        let bus = try RestartableBus(in: desktop)
        let client = try ClientProcess(
            ["talk", Self.app], in: desktop, environment: bus.environment)
        try client.ask("set Key 1")
        try client.ask("flush")
        for number in 2...4 {
            bus.stop()
            try client.wait(for: "unreachable", to: "state")
            #expect(try client.ask("get Key") == "\(number - 1)")
            try client.ask("set Key \(number)")
            try bus.start()
            try client.ask("flush")
            try client.wait(for: "current", to: "state")
            #expect(
                desktop.run(
                    [Desktop.programs + "/defaultsctl", "read", Self.app, "Key"],
                    environment: bus.environment
                ).output == "\(number)\n")
        }
    }

    @Test func `A daemon that hangs delays one read, and an exit for a moment`() throws {
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        let other = try ClientProcess(talkingOf: Self.app, in: desktop).whenCurrent()
        try client.ask("set Key 1")
        try client.ask("flush")
        #expect(try other.ask("get Key") == "1")
        let daemon = try desktop.daemonPID()
        try desktop.setNumber(2, forKey: "Key", in: Self.app)
        kill(daemon, SIGSTOP)
        // It was told of the change, and cannot ask for it.
        #expect(["1", "2"].contains(try other.ask("get Key")))
        #expect(["1", "2"].contains(try other.ask("get-thousands Key")))
        try client.ask("set Key 3")
        #expect(try client.ask("get-thousands Key") == "3")
        #expect(try client.ask("flush 1") == "error unreachable")
        #expect(try client.end() == 0)
        let left = desktop.run(
            HangGuard.command + [ClientProcess.program, "leave", "org.example.Left", "Key", "5"])
        #expect(left.status == 0, "\(left)")
        kill(daemon, SIGCONT)
        try other.wait(for: "3", to: "get Key")
        #expect(try other.ask("state") == "current")
    }

    @Test func `A change whose reply was lost is made once`() throws {
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        try client.ask("set Key 1")
        try client.ask("flush")
        let before = try generation()
        for number in 2...12 {
            let daemon = try desktop.daemonPID()
            // It takes the change when it goes on, and is killed at some moment from then on.
            kill(daemon, SIGSTOP)
            try client.tell("commit Key=\(number)")
            kill(daemon, SIGCONT)
            kill(daemon, SIGKILL)
            #expect(try client.answer() == "done")
            #expect(try client.ask("get Key") == "\(number)")
            #expect(try desktop.number(forKey: "Key", in: Self.app) == number)
        }
        #expect(try generation() > before)
    }

    private func generation() throws -> UInt64 {
        try #require(UInt64(desktop.property("Generation").filter(\.isNumber).dropFirst(2)))
    }

    @Test func `An increment whose reply was lost is made once`() throws {
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        try client.tell("increment Count 400")
        var kills = 0
        while kills < 8 {
            if try desktop.end(by: SIGKILL) { kills += 1 }
        }
        #expect(try client.answer() == "done")
        #expect(try desktop.number(forKey: "Count", in: Self.app) == 400)
    }

    @Test func `A late reply to a change that was sent again hides no newer value of others`()
        throws
    {
        let one = try ClientProcess(talkingOf: Self.app, in: desktop)
        for number in 1...10 {
            let daemon = try desktop.daemonPID()
            #expect(try one.fresh("get Key") == "\((number - 1) * 100)")
            try one.tell("commit Key=\(number)")
            kill(daemon, SIGKILL)
            _ = try one.answer()
            try desktop.setNumber(number * 100, forKey: "Key", in: Self.app)
            #expect(try one.fresh("get Key") == "\(number * 100)")
        }
    }

    @Test(arguments: ["bus", "direct"])
    func `A forked process gets an error, reads defaults, and never waits`(way: String) throws {
        try desktop.setNumber(5, forKey: "Count", in: Self.app)
        if way == "bus" {
            try FileManager.default.removeItem(
                atPath: desktop.directory.path + "/runtime/defaultsd/direct")
        }
        let result = desktop.run(HangGuard.command + [ClientProcess.program, "fork", Self.app])
        #expect(
            result.output == """
                parent 5
                read 0
                read 0
                value forked
                set forked
                others false false []
                new 0
                unreachable
                child ended with 0
                parent 5

                """)
        // Once, however many of its changes are lost.
        #expect(result.error.matches(of: /before the fork/).count == 1, "\(result.error)")
        #expect(try desktop.number(forKey: "Count", in: Self.app) == 5)
    }

    @Test func `A process may fork before it uses its defaults`() throws {
        let result = desktop.run(
            HangGuard.command + [ClientProcess.program, "fork-unused", Self.app])
        #expect(
            result.output == """
                child 1
                child ended with 0
                parent 2

                """, "\(result.error)")
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable))
    func `A process in a sandbox sees the changes of others`() throws {
        try desktop.tool("grant", "*", "write", Self.app).requireOutput()
        let client = try ClientProcess(
            ["talk", Self.app], in: desktop, by: desktop.wholeSandbox())
        try client.wait(for: "following", to: "state")
        #expect(try client.ask("get Key") == "0")
        try client.ask("watch Key")
        try desktop.setNumber(5, forKey: "Key", in: Self.app)
        #expect(try client.event() == "change 0 5 foreign")
        #expect(try client.ask("get Key") == "5")
        try client.ask("set Key 6")
        #expect(try client.event() == "change 5 6 own")
        try client.ask("flush")
        #expect(try desktop.number(forKey: "Key", in: Self.app) == 6)
        try desktop.write(#"{"Key": 8}"#, to: "\(Self.app).json", in: .managed)
        #expect(try client.event() == "change 6 8 foreign")
        #expect(try client.ask("is-locked Key") == "true")
    }
}
