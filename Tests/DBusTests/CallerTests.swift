import Glibc
import SystemCalls
import TestTiers
import Testing
import TestSupport

@testable import DBus

/// The identity of callers: the bus is asked once, while the caller's calls wait and others are served.
@Suite(.startsPrograms) struct CallerTests {
    /// Serves a method that notes each call: `:1.7 1000 42`, user and process.
    private static func serve(on connection: Connection) async -> Log<String> {
        let log = Log<String>()
        let method = Method("Note", out: [Argument("who", "s")]) { call in
            let (user, process) = (call.credentials?.userID, call.credentials?.processID)
            let words = [call.sender?.string, user.map(String.init), process.map(String.init)]
            let line = words.map { $0 ?? "-" }.joined(separator: " ")
            log.append(line)
            try call.reply { try $0.writeString(line) }
        }
        await connection.export([Interface("a.Service", methods: [method])], at: "/")
        return log
    }

    private static func facts(_ user: UInt32, _ process: UInt32) -> [(String, Value)] {
        // More than is asked for, and some of it of another type, as another bus may have it.
        [
            ("UnixUserID", .uint32(user)), ("ProcessID", .uint32(process)),
            ("ProcessFD", .uint32(7)), ("UnixGroupIDs", .array(of: "u", [.uint32(1)])),
            ("LinuxSecurityLabel", .bytes(Array("unconfined\0".utf8))),
        ]
    }

    @Test func `A caller's calls wait for its credentials, in order, while others are served`()
        async throws
    {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        var questions = fake.questions.makeAsyncIterator()

        async let first = fake.call(from: ":1.7", "Note")
        #expect(await questions.next() == "credentials :1.7")
        async let second = fake.call(from: ":1.7", "Note")
        async let other = fake.call(from: ":1.8", "Note")
        #expect(await questions.next() == "credentials :1.8")
        try await fake.answer("credentials :1.8", Self.facts(1, 2))
        #expect(try await other == [.string(":1.8 1 2")])
        #expect(log.entries == [":1.8 1 2"])
        try await fake.answer("credentials :1.7", Self.facts(3, 4))
        #expect(try await [first, second] == [[.string(":1.7 3 4")], [.string(":1.7 3 4")]])
        // Known from now on: the next question is about another one.
        #expect(try await fake.call(from: ":1.7", "Note") == [.string(":1.7 3 4")])
        _ = try await fake.send(from: ":1.9", "Note")
        #expect(await questions.next() == "credentials :1.9")
    }

    /// One that is gone by now may have sent what asks for no reply.
    @Test(arguments: [.nameHasNoOwner, "org.freedesktop.DBus.Error.AccessDenied"] as [ErrorName])
    func `If the bus does not know, the caller is served as unknown`(
        error: ErrorName
    ) async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        var questions = fake.questions.makeAsyncIterator()
        async let reply = fake.call(from: ":1.7", "Note")
        #expect(await questions.next() == "credentials :1.7")
        try await fake.refuse("credentials :1.7", error)
        #expect(try await reply == [.string(":1.7 - -")])
        async let other = fake.call(from: ":1.8", "Note")
        #expect(await questions.next() == "credentials :1.8")
        try await fake.answer("credentials :1.8", [("UnixUserID", .string("me"))])
        #expect(try await other == [.string(":1.8 - -")])
    }

    // MARK: Where a caller is

    /// A reference to a process of its own that sleeps, or has ended.
    private static func reference(hasEnded: Bool) throws -> (FileDescriptor, ChildProcess) {
        let child = try ChildProcess(["sleep", "1000"])
        let reference = try #require(ProcessReference.make(child.processIdentifier))
        if hasEnded {
            child.send(SIGKILL)
            child.waitUntilExit()
        }
        return (reference, child)
    }

    /// Serves a method that says whether its caller is in our own place.
    private static func servePlaces(on connection: Connection) async {
        let method = Method("Note", out: [Argument("isHere", "b")]) { call in
            let place = call.credentials?.place
            try call.reply { try $0.writeBool(place != nil && place == ProcessPlace.own) }
        }
        await connection.export([Interface("a.Service", methods: [method])], at: "/")
    }

    /// Another process may have the number by now, so only the reference says which process it was.
    @Test(arguments: [false, true])
    func `A caller's place is that of the process to which the bus refers, unless it has ended`(
        hasEnded: Bool
    ) async throws {
        let fake = try await FakeBus()
        await Self.servePlaces(on: fake.service)
        await fake.service.identifyCallers()
        var questions = fake.questions.makeAsyncIterator()
        let (reference, child) = try Self.reference(hasEnded: hasEnded)
        async let reply = fake.call(from: ":1.7", "Note")
        #expect(await questions.next() == "credentials :1.7")
        try await fake.answer(
            "credentials :1.7",
            [
                ("UnixUserID", .uint32(geteuid())), ("ProcessID", .uint32(UInt32(getpid()))),
                ("ProcessFD", .unixFD(reference)),
            ])
        #expect(try await reply == [.boolean(!hasEnded)])
        child.send(SIGKILL)
    }

    /// This bus does not confirm that the name still exists.
    @Test func `A process known only by its number has no place if its connection is gone`()
        async throws
    {
        let fake = try await FakeBus()
        await Self.servePlaces(on: fake.service)
        await fake.service.identifyCallers()
        var questions = fake.questions.makeAsyncIterator()
        async let reply = fake.call(from: ":1.7", "Note")
        #expect(await questions.next() == "credentials :1.7")
        try await fake.answer(
            "credentials :1.7",
            [("UnixUserID", .uint32(geteuid())), ("ProcessID", .uint32(UInt32(getpid())))])
        #expect(try await reply == [.boolean(false)])
    }

    @Test func `A caller that may not call gets the error for every call`() async throws {
        let fake = try await FakeBus()
        let (calls, judged) = (await Self.serve(on: fake.service), Log<UInt32?>())
        let refusal = DBusError("a.Service.Error.Refused", "No.")
        await fake.service.identifyCallers { credentials in
            judged.append(credentials?.userID)
            return credentials?.userID == 3 ? refusal : nil
        }
        var questions = fake.questions.makeAsyncIterator()
        for number in 1...2 {
            let call = try await fake.send(from: ":1.7", "Note")
            if number == 1 {
                #expect(await questions.next() == "credentials :1.7")
                try await fake.answer("credentials :1.7", [("UnixUserID", .uint32(3))])
            }
            await #expect(throws: refusal) { try await call.reply() }
        }
        #expect(judged.entries == [3] && calls.entries == [])
    }

    @Test func `The end of the connection drops waiting calls`()
        async throws
    {
        let fake = try await FakeBus()
        let log = await Self.serve(on: fake.service)
        await fake.service.identifyCallers()
        var questions = fake.questions.makeAsyncIterator()
        let call = try await fake.send(from: ":1.7", "Note")
        #expect(await questions.next() == "credentials :1.7")
        await fake.service.close()
        await #expect(throws: DBusError.disconnected) { try await call.reply() }
        #expect(await fake.service.waitingCalls == 0)
        #expect(log.entries == [])
    }

    @Test func `The real bus identifies a program`() async throws {
        let session = try PrivateSession()
        let connection = try await session.connect()
        _ = await Self.serve(on: connection)
        await connection.identifyCallers()
        let program = """
            import os
            from gi.repository import Gio
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            reply = bus.call_sync('\(connection.name)', '/', 'a.Service', 'Note', None, None, 0, -1)
            print(reply.unpack()[0] == f'{bus.get_unique_name()} {os.getuid()} {os.getpid()}')
            """
        let result = await session.run("/usr/bin/python3", "-c", program)
        #expect(result.output == "True\n", "\(result.error)")
    }

    @Test
    func `Credentials that are not wanted are unknown, and no call waits for them`() async throws {
        let fake = try await FakeBus()
        _ = await Self.serve(on: fake.service)
        #expect(try await fake.call(from: ":1.7", "Note") == [.string(":1.7 - -")])
    }
}

extension Connection {
    /// How many calls wait.
    var waitingCalls: Int { calls.schedule.count }
}
