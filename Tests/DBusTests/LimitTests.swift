import TestTiers
import Testing
import TestSupport

@testable import DBus

/// What a real bus accepts from us, and when it disconnects the sender.
@Suite(.startsPrograms) struct LimitTests {
    let session: PrivateSession

    init() throws {
        session = try PrivateSession()
    }

    /// A message as deep as it may be.
    struct Deepest: CustomTestStringConvertible {
        let testDescription: String
        let value: Value
        /// Makes it one deeper.
        let wrap: @Sendable (Value) -> Value

        init(
            _ description: String, _ value: Value,
            wrap: @escaping @Sendable (Value) -> Value = { .variant($0) }
        ) {
            testDescription = description
            self.value = value
            self.wrap = wrap
        }
    }

    /// The innermost is `core`; `wrap` is applied this many times around it.
    private static func nest(_ core: Value, _ count: Int, _ wrap: (Value) -> Value) -> Value {
        (0..<count).reduce(core) { value, _ in wrap(value) }
    }

    @Sendable private static func inVariantArray(_ value: Value) -> Value {
        .array(of: "v", [.variant(value)])
    }

    @Sendable private static func inDictionary(_ value: Value) -> Value {
        .dictionary(key: "s", value: "v", [Value.Entry(.string("k"), .variant(value))])
    }

    /// The deepest that goes: 64 containers in all, an empty or fixed-size one inside for free.
    static let deepest: [Deepest] = [
        Deepest("variants", nest(.byte(1), 64) { .variant($0) }),
        Deepest("av", nest(.byte(1), 32, inVariantArray)),
        Deepest("av around bytes", nest(.bytes([1]), 32, inVariantArray)),
        Deepest("av around numbers", nest(.array(of: "u", [.uint32(1)]), 32, inVariantArray)),
        Deepest("av around an empty array", nest(.array(of: "s", []), 32, inVariantArray)),
        Deepest("a{sv}", nest(.byte(1), 21, inDictionary), wrap: inVariantArray),
        Deepest("a variant of a{sv}", .variant(nest(.byte(1), 21, inDictionary))),
    ]

    @Test(arguments: deepest)
    func `The deepest message arrives, and a deeper one is refused here`(
        _ deepest: Deepest
    ) async throws {
        let connection = try await session.connect()
        await connection.export([Self.sink(for: try deepest.value.type)], at: "/")
        _ = try await connection.call(connection.uniqueName, "/", "a.Sink", "Take", [deepest.value])
        let error = await #expect(throws: DBusError.self) {
            try await connection.call(
                connection.uniqueName, "/", "a.Sink", "Take", [deepest.wrap(deepest.value)])
        }
        #expect(error == .nestedTooDeeply)
    }

    @Test(arguments: deepest)
    func `A deeper message, sent without our check, loses the connection`(
        _ deepest: Deepest
    ) async throws {
        // The other half of the rule: the bus does not accept what we refuse.
        let connection = try await session.connect()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        await connection.onDisconnect { end.finish() }
        try await connection.emitUnchecked(deepest.wrap(deepest.value))
        for await _ in ended {}
    }

    @Test func `A message of 48 MiB arrives, and so does the reply`() async throws {
        let connection = try await session.connect()
        let (peer, size) = (try await session.connectApart(), 48 << 20)
        let echo = Interface(
            "a.Echo",
            methods: [
                Method("Echo", in: [Argument("bytes", "ay")], out: [Argument("bytes", "ay")]) {
                    call in
                    let bytes = try call.arguments { try $0.readBytes() }
                    try call.reply { try $0.writeBytes(bytes) }
                }
            ])
        await peer.export([echo], at: "/")
        let count = try await connection.call(peer.uniqueName, "/", "a.Echo", "Echo") {
            try $0.writeBytes([UInt8](repeating: 7, count: size))
        } read: { reader in
            try reader.withBytes { $0.count }
        }
        #expect(count == size)
    }

    @Test func `A reply that is too large is an error, and the handler gets it`() async throws {
        let connection = try await session.connect()
        let seen = Log<DBusError>()
        let interface = Interface(
            "a.Large",
            methods: [
                Method("Get", out: [Argument("bytes", "ay")]) { call in
                    do {
                        try call.reply { try $0.writeBytes([UInt8](repeating: 0, count: 65 << 20)) }
                    } catch let error as DBusError {
                        seen.append(error)
                        throw error
                    }
                }
            ])
        await connection.export([interface], at: "/")
        await #expect(throws: DBusError.arrayTooLong) {
            try await connection.call(connection.uniqueName, "/", "a.Large", "Get")
        }
        #expect(seen.entries == [.arrayTooLong])
        _ = try await connection.call(.bus, "/", "org.freedesktop.DBus", "GetId")
    }

    @Test func `A handler may answer a reply that is too large with its error (4)`() async throws {
        let connection = try await session.connect()
        let interface = Interface(
            "a.Large",
            methods: [
                Method("Get", out: [Argument("bytes", "ay")]) { call in
                    do {
                        try call.reply { try $0.writeBytes([UInt8](repeating: 0, count: 65 << 20)) }
                    } catch {
                        call.fail(error)
                    }
                }
            ])
        await connection.export([interface], at: "/")
        await #expect(throws: DBusError.arrayTooLong) {
            try await connection.call(connection.uniqueName, "/", "a.Large", "Get")
        }
    }

    @Test func `A second reply after one that was too large is neither written nor sent (4)`()
        async throws
    {
        let connection = try await session.connect()
        let writes = Log<Int>()
        let interface = Interface(
            "a.Large",
            methods: [
                Method("Get", out: [Argument("bytes", "ay")]) { call in
                    for size in [65 << 20, 1] {
                        try? call.reply {
                            writes.append(size)
                            try $0.writeBytes([UInt8](repeating: 0, count: size))
                        }
                    }
                }
            ])
        await connection.export([interface], at: "/")
        await #expect(throws: DBusError.arrayTooLong) {
            try await connection.call(connection.uniqueName, "/", "a.Large", "Get")
        }
        #expect(writes.entries == [65 << 20])
    }

    private static func sink(for type: Signature) -> Interface {
        Interface(
            "a.Sink", methods: [Method("Take", in: [Argument("value", type)]) { try $0.reply() }])
    }
}

extension Connection {
    /// Sends a value in a signal without asking the layout.
    fileprivate func emitUnchecked(_ value: Value) throws {
        let message = try Message.unaddressed(.signal)
        try UncheckedWriter.append(value, to: message)
        try message.address(to: nil, "/", "a.b", "C")
        try link.send(message)
    }
}
