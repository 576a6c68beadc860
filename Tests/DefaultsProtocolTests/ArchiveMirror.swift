import DBus
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import TestSupport

/// Answers each D-Bus value with the archive that it represents, over a real bus.
final class ArchiveMirror: Sendable {
    private let bus: PrivateBus
    private let loop: EventLoop
    private let connection: Connection

    init() async throws {
        bus = try PrivateBus()
        loop = try EventLoop.startThread(named: "mirror")
        connection = try await Connection.open(.address(bus.address), on: loop)
        let reflect = Method(
            "Reflect", in: [Argument("value", "v")], out: [Argument("archive", "ay")]
        ) { call in
            let archive = try call.arguments { arguments in
                var remaining = ContractLimits.maximumValueCount
                return try VariantForm.readArchive(from: &arguments, remaining: &remaining)
            }
            try call.reply { try $0.writeBytes(archive.bytes) }
        }
        await connection.export(
            [Interface("org.example.Mirror", methods: [reflect])], at: "/mirror")
    }

    deinit {
        loop.stop()
    }

    /// The bytes of the archive that a value represents.
    func archive(of value: Value) async throws -> [UInt8] {
        try await connection.call(
            connection.uniqueName, "/mirror", "org.example.Mirror", "Reflect",
            write: { try $0.writeValue(.variant(value)) }, read: { try $0.readBytes() })
    }
}
