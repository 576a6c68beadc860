import DBus
import DefaultsProtocol
import TestTiers
import Testing

/// What one end of a maintenance call writes, the other end reads.
@Suite(.startsPrograms, .serialized) struct MaintenanceCallTests {
    let exchange: Exchange

    init() throws { exchange = try Exchange() }

    private func reply<C: Call>(
        _ call: C.Type, write: @escaping @Sendable (inout MessageWriter) throws -> Void
    ) async throws -> C.Reply where C.Arguments == Void {
        try await exchange.carry(call, (), read: { _ in }, write: write).1
    }

    @Test func `Each fact of the statistics arrives by its name`() async throws {
        let reply = try await reply(Contract.GetStatistics.self) {
            try Contract.GetStatistics.writeReply(
                [(.uptime, .uint64(3)), (.fileSystem, .string("ext4"))], to: &$0)
        }
        #expect(reply[.uptime] == .uint64(3))
        #expect(reply[.fileSystem] == .string("ext4"))
        #expect(reply[.calls] == nil)
    }

    @Test func `The writers arrive as they were sent`() async throws {
        let (generation, writer) = try await exchange.carry(Contract.FindWriter.self, 7) {
            try Contract.FindWriter.readArguments(from: &$0)
        } write: {
            try Contract.FindWriter.writeReply(("/bin/app", 12), to: &$0)
        }
        #expect(generation == 7 && writer == ("/bin/app", 12))
        let writers = try await reply(Contract.ListWriters.self) {
            try Contract.ListWriters.writeReply([("/bin/app", 2)], to: &$0)
        }
        #expect("\(writers)" == #"[(executable: "/bin/app", changes: 2)]"#)
    }

    @Test func `The size of a domain arrives as it was sent`() async throws {
        let (read, reply) = try await exchange.carry(Contract.MeasureDomain.self, ("d", 5)) {
            try Contract.MeasureDomain.readArguments(from: &$0, by: PlainNames())
        } write: {
            try Contract.MeasureDomain.writeReply((1, 2, 3, [("k", 3)]), to: &$0)
        }
        #expect(read == ("d", 5))
        let expected = #"(keys: 1, nameBytes: 2, archiveBytes: 3, largest: [(key: "k", size: 3)])"#
        #expect("\(reply)" == expected)
    }

    @Test func `Hosts, files and locks arrive as they were sent`() async throws {
        let hosts = try await reply(Contract.ListHosts.self) {
            try Contract.ListHosts.writeReply([("id", "name")], to: &$0)
        }
        #expect("\(hosts)" == #"[(id: "id", name: "name")]"#)
        let files = try await reply(Contract.ListLayerFiles.self) {
            try Contract.ListLayerFiles.writeReply([("managed", "d", "/p", "bad")], to: &$0)
        }
        #expect(
            "\(files)" == #"[(layer: "managed", domain: "d", path: "/p", problem: "bad")]"#)
        let (domain, locks) = try await exchange.carry(Contract.ListLocks.self, "d") {
            try Contract.ListLocks.readArguments(from: &$0, by: PlainNames())
        } write: {
            try Contract.ListLocks.writeReply([("k*", "/p")], to: &$0)
        }
        #expect(domain == "d")
        #expect("\(locks)" == #"[(pattern: "k*", path: "/p")]"#)
    }

    @Test func `Backups arrive as they were sent`() async throws {
        let backups = try await reply(Contract.ListBackups.self) {
            try Contract.ListBackups.writeReply([("n", 1, 2, "daily", 3)], to: &$0)
        }
        let expected =
            #"[(name: "n", date: 1, generation: 2, kind: "daily", size: 3)]"#
        #expect("\(backups)" == expected)
        let name = try await reply(Contract.BackUp.self) {
            try Contract.BackUp.writeReply("n", to: &$0)
        }
        #expect(name == "n")
    }

    @Test func `A restoration arrives as it was sent, with its changes`() async throws {
        let counts = RestoredCounts(undo: "u", set: 1, removed: 2, damaged: 3, locked: 4)
        let (name, restored) = try await exchange.carry(Contract.RestoreBackup.self, "n") {
            try Contract.RestoreBackup.readArguments(from: &$0)
        } write: {
            try Contract.RestoreBackup.writeReply(counts, to: &$0)
        }
        #expect(name == "n" && restored == counts)
        let (read, reply) = try await exchange.carry(
            Contract.Restore.self, ("n", "", ["d"], true)
        ) {
            try Contract.Restore.readArguments(from: &$0)
        } write: {
            try Contract.Restore.writeReply(counts, [("d", ["a"], ["b"], 5)], to: &$0)
        }
        #expect("\(read)" == #"(name: "n", path: "", domains: ["d"], isDry: true)"#)
        #expect(reply.counts == counts)
        let change = #"[(domain: "d", set: ["a"], removed: ["b"], locked: 5)]"#
        #expect("\(reply.changes)" == change)
    }

    @Test func `The properties are read by their declarations`() async throws {
        let version = Property("Version", "s", emitsChanged: .constant) { .string("0.1") }
        let generation = Property("Generation", "t", emitsChanged: .none) { .uint64(7) }
        let reply = try await exchange.call(
            Contract.GetProperties.self, (),
            of: Interface(Contract.interface, properties: [version, generation]))
        #expect(try reply.string(Contract.version) == "0.1")
        #expect(try reply.uint64(Contract.currentGeneration) == 7)
        #expect(throws: DBusError.self) { try reply.string(Contract.currentGeneration) }
        #expect(throws: DBusError.self) { try reply.uint32(Contract.pendingChanges) }
    }
}
