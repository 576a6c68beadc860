import DBus
import DefaultsProtocol
import KeyedArchive
import Synchronization
import TestSupport
import Testing

/// A service in the daemon's place that has no room: it refuses calls, for a while or for good.
final class RefusingService: Sendable {
    private let loop: EventLoop
    private let connection: Connection
    private let refusals: Mutex<Int>

    /// - Parameter parts: How often it refuses single layers. Other calls it refuses always.
    init(on desktop: Desktop, refusing parts: Int) async throws {
        loop = try EventLoop.startThread(named: "refusing")
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
                refused(Contract.Attach.self), refused(Contract.Follow.self),
                refused(Contract.Lookup.self), refused(Contract.Get.self),
                refused(Contract.GetAll.self), refused(Contract.Set.self),
                refused(Contract.Apply.self), refused(Contract.ApplyAll.self),
                refused(Contract.Synchronize.self),
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

    private func refused<C: Call>(_ call: C.Type) -> Method {
        method(call) { _ in throw Self.refusal }
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
                    guard domain == "org.example.App" else { return }
                    try writer.writeEntry {
                        try $0.writeString("Key")
                        try $0.writeBytes(archive)
                    }
                }, large: { [] })
        }
    }
}
