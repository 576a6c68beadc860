import DBus
import TestTiers
import Testing
import TestSupport

/// Calls to others, with the bus itself and a slow peer as the other side.
@Suite(.startsPrograms) struct CallTests {
    let session: PrivateSession

    init() throws {
        session = try PrivateSession()
    }

    /// Serves an object whose method `Wait` never answers, and says so by each call.
    private func serveSilence(on connection: Connection) async -> AsyncStream<Void> {
        let (calls, report) = AsyncStream.makeStream(of: Void.self)
        let keeper = Keeper(on: connection.loop)
        let interface = Interface(
            "a.Silence",
            methods: [
                Method("Wait") { call in
                    keeper.assumeIsolated { $0.keep(call) }
                    report.yield()
                }
            ])
        await connection.export([interface], at: "/")
        return calls
    }

    private func wait(
        for callee: Connection, from caller: Connection, timeout: Duration?
    ) async throws {
        try await caller.call(callee.uniqueName, "/", "a.Silence", "Wait", timeout: timeout)
    }

    @Test func `The reply to a call that was sent at once is not lost`() async throws {
        // The task may be put aside between steps; whether it is differs from run to run.
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    let connection = try await session.connect()
                    let names = try await connection.call(
                        .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames",
                        replying: "as"
                    ) { reader in
                        try reader.readArray { try $0.readString() }
                    }
                    #expect(names.contains(connection.name))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `Many calls at once each get their own reply`() async throws {
        let connection = try await session.connect()
        let server = try await session.connectApart()
        let echo = Interface(
            "a.Echo",
            methods: [
                Method("Echo", in: [Argument("number", "t")], out: [Argument("number", "t")]) {
                    call in
                    let number = try call.arguments { try $0.readUInt64() }
                    try call.reply { try $0.writeUInt64(number) }
                }
            ])
        await server.export([echo], at: "/")
        try await withThrowingTaskGroup { group in
            for number in UInt64(0)..<1000 {
                group.addTask {
                    let reply = try await connection.call(server.uniqueName, "/", "a.Echo", "Echo")
                    {
                        try $0.writeUInt64(number)
                    } read: {
                        try $0.readUInt64()
                    }
                    #expect(reply == number)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `A reply that does not come in time is Timeout`() async throws {
        let connection = try await session.connect()
        _ = await serveSilence(on: connection)
        let error = await #expect(throws: DBusError.self) {
            try await wait(for: connection, from: connection, timeout: .milliseconds(1))
        }
        #expect(error?.name == .timeout)
    }

    @Test func `A call whose task is cancelled ends with CancellationError`() async throws {
        let connection = try await session.connect()
        var calls = await serveSilence(on: connection).makeAsyncIterator()
        let call = Task { try await wait(for: connection, from: connection, timeout: nil) }
        _ = await calls.next()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `A call of a cancelled task is not sent`() async throws {
        let connection = try await session.connect()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await connection.call(.bus, "/", "org.freedesktop.DBus", "ListNames")
        }
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `An error reply is thrown with its name and its sentence`() async throws {
        let connection = try await session.connect()
        let error = await #expect(throws: DBusError.self) {
            try await connection.call("a.b", "/", "a.b", "C")
        }
        #expect(error?.name == .serviceUnknown)
        #expect(error?.message.contains("a.b") == true)
    }

    @Test func `A reply of other types is an error, and does not trap`() async throws {
        let connection = try await session.connect()
        func getId(
            replying signature: Signature? = nil,
            _ read: @escaping @Sendable (inout MessageReader) throws -> Void
        ) async throws {
            try await connection.call(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId",
                replying: signature, read: read)
        }
        func expectError(
            replying signature: Signature? = nil,
            _ read: @escaping @Sendable (inout MessageReader) throws -> Void
        ) async {
            let error = await #expect(throws: DBusError.self) {
                try await getId(replying: signature, read)
            }
            #expect(error?.name == .invalidArguments)
        }
        await expectError { _ = try $0.readUInt64() }
        await expectError { _ in }
        await expectError { for _ in 0..<2 { _ = try $0.readString() } }
        await expectError(replying: "as") { _ = try $0.readString() }
        try await getId(replying: "s") { _ = try $0.readString() }
    }

    @Test func `Code that reads a reply may close the connection`() async throws {
        let connection = try await session.connect()
        let silent = try await session.connectApart()
        var calls = await serveSilence(on: silent).makeAsyncIterator()
        let other = Task { try await wait(for: silent, from: connection, timeout: nil) }
        _ = await calls.next()
        let identifier = try await connection.call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId"
        ) { reader in
            connection.assumeIsolated { $0.close() }
            return try reader.readString()
        }
        #expect(!identifier.isEmpty)
        await #expect(throws: DBusError.self) { try await other.value }
    }

    @Test func `An error in writing is thrown, and nothing is sent`() async throws {
        let connection = try await session.connect()
        await #expect(throws: DBusError.self) {
            try await connection.call(.bus, "/", "a.b", "C", [.string("a\0b")])
        }
    }

    @Test func `A name is requested, waited for, and released`() async throws {
        let (first, second) = (try await session.connect(), try await session.connect())
        #expect(try await first.requestName("a.Name") == .primaryOwner)
        #expect(try await first.requestName("a.Name") == .alreadyOwner)
        #expect(try await second.requestName("a.Name", .doNotQueue) == .exists)
        #expect(try await second.requestName("a.Name") == .inQueue)
        #expect(try await second.releaseName("a.Other") == .nonExistent)
        #expect(try await first.releaseName("a.Name") == .released)
        #expect(try await second.requestName("a.Name") == .alreadyOwner)
        #expect(try await first.releaseName("a.Name") == .notOwner)
    }

    @Test func `A name is taken over only from an owner that allows it`() async throws {
        let (first, second) = (try await session.connect(), try await session.connect())
        #expect(try await first.requestName("a.Name", .allowReplacement) == .primaryOwner)
        #expect(try await second.requestName("a.Name", .replaceExisting) == .primaryOwner)
        #expect(try await first.requestName("a.Name", .replaceExisting) == .inQueue)
    }
}

/// Keeps calls unanswered.
actor Keeper {
    private let loop: EventLoop
    private var calls: [MethodCall] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: EventLoop) { self.loop = loop }

    func keep(_ call: MethodCall) { calls.append(call) }

    func drop() { calls = [] }

    func answer() throws {
        for call in calls { try call.reply() }
    }
}
