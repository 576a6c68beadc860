import DBus
import DefaultsProtocol
import KeyedArchive
import Synchronization
import TestSupport
import TestTiers
import Testing

/// A service that has no room for the answers to a program, for a while or for good.
///
/// The program must not take that for settings that nobody has set.
@Suite(.startsPrograms) struct RefusedReadingTests {
    private static let app = "org.example.App"

    /// A service in the daemon's place, which refuses some calls.
    private final class FullService: Sendable {
        private let loop: EventLoop
        private let connection: Connection
        private let refusals: Mutex<Int>

        /// - Parameter parts: How often it refuses single layers. It refuses whole domains always.
        init(on desktop: Desktop, refusing parts: Int) async throws {
            loop = try EventLoop.startThread(named: "full")
            connection = try await Connection.open(.address(desktop.bus.address), on: loop)
            refusals = Mutex(parts)
            await connection.export([interface], at: Contract.objectPath)
            #expect(
                try await connection.requestName(Contract.busName, [.doNotQueue]) == .primaryOwner)
        }

        deinit { loop.stop() }

        private static let refusal = DBusError(
            .limitsExceeded, "Programs leave so much unread that there is no room.")

        private var interface: Interface {
            Interface(
                Contract.interface,
                methods: [
                    method(Contract.Attach.self) { _ in throw Self.refusal },
                    method(Contract.GetChanges.self) { call in
                        let isRefused = self.refusals.withLock {
                            $0 -= 1
                            return $0 >= 0
                        }
                        if isRefused { throw Self.refusal }
                        try Self.reply(to: call)
                    },
                ])
        }

        private func method<C: Call>(
            _ call: C.Type, _ body: @escaping @Sendable (MethodCall) throws -> Void
        ) -> Method {
            Method(C.method.name, in: C.method.input, out: C.method.output, handler: body)
        }

        /// Replies that a domain has one key.
        private static func reply(to call: MethodCall) throws {
            let domain = try call.arguments {
                let domain = try $0.readString()
                _ = try $0.readUInt64()
                return domain
            }
            let archive = try KeyedArchive(json: "77").bytes
            try call.reply { writer in
                try Contract.GetChanges.writeReply(
                    removed: [], generation: 1, isComplete: false, to: &writer,
                    changed: { writer in
                        guard domain == RefusedReadingTests.app else { return }
                        try writer.writeEntry {
                            try $0.writeString("Key")
                            try $0.writeBytes(archive)
                        }
                    }, large: { [] })
            }
        }
    }

    @Test func `A program to which a whole domain is refused reads it in parts`() async throws {
        let desktop = try Desktop()
        let service = try await FullService(on: desktop, refusing: 0)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        #expect(try client.ask("try-get Key") == "77")
        #expect(try client.ask("state") == "following")
        #expect(try client.end() == 0)
        withExtendedLifetime(service) {}
    }

    @Test func `A program to which everything is refused for a while waits, and reads no default`()
        async throws
    {
        let desktop = try Desktop()
        let service = try await FullService(on: desktop, refusing: 12)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        #expect(try client.ask("get Key") == "77")
        #expect(try client.ask("state") == "following")
        #expect(try client.end() == 0)
        withExtendedLifetime(service) {}
    }
}
