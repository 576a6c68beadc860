import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import SystemCalls
import TestTiers
import Testing

/// What one end of a call writes, the other end reads.
@Suite(.startsPrograms, .serialized) struct CallTests {
    let exchange: Exchange
    let names = PlainNames()

    init() throws { exchange = try Exchange() }

    /// Expects that both directions of a call bring what was sent, in the words of Swift.
    private func expect<C: Call, Read: Sendable>(
        _ call: C.Type, _ arguments: C.Arguments, brings read: String, replies reply: String,
        reading: @escaping @Sendable (inout MessageReader) throws -> Read,
        writing: @escaping @Sendable (inout MessageWriter) throws -> Void
    ) async throws {
        let (arrived, answer) = try await exchange.carry(
            call, arguments, read: reading, write: writing)
        #expect("\(arrived)" == read, "the arguments of \(C.method.name)")
        #expect("\(answer)" == reply, "the reply of \(C.method.name)")
    }

    @Test func `A value arrives at both ends as it was sent`() async throws {
        let names = names
        try await expect(
            Contract.Get.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: "(archive: [1, 2], generation: 7)",
            reading: { try Contract.Get.readArguments(from: &$0, by: names) },
            writing: { try Contract.Get.writeReply(([1, 2], 7), to: &$0) })
        try await expect(
            Contract.Set.self, ("d", "k", [3]), brings: #"(domain: "d", key: "k", archive: [3])"#,
            replies: "8", reading: { try Contract.Set.readArguments(from: &$0, by: names) },
            writing: { try Contract.Set.writeReply(8, to: &$0) })
        try await expect(
            Contract.Rename.self, ("d", "a", "b"), brings: #"(domain: "d", old: "a", new: "b")"#,
            replies: "9", reading: { try Contract.Rename.readArguments(from: &$0, by: names) },
            writing: { try Contract.Rename.writeReply(9, to: &$0) })
        try await expect(
            Contract.GetValue.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: "\((value: Value.int64(5), generation: UInt64(7)))",
            reading: { try Contract.GetValue.readArguments(from: &$0, by: names) },
            writing: { try Contract.GetValue.writeReply((.int64(5), 7), to: &$0) })
    }

    @Test func `A D-Bus value arrives as the archive that it represents`() async throws {
        let names = names
        let (read, generation) = try await exchange.carry(
            Contract.SetValue.self, ("d", "k", .string("text"))
        ) {
            try Contract.SetValue.readArguments(from: &$0, by: names)
        } write: {
            try Contract.SetValue.writeReply(3, to: &$0)
        }
        #expect(read.domain == "d" && read.key == "k" && generation == 3)
        #expect(try VariantForm.value(of: read.archive) == .string("text"))
    }

    @Test func `The effective values of an application arrive as they were sent`() async throws {
        let names = names
        try await expect(
            Contract.Lookup.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: #"(archive: [1], layer: "host")"#,
            reading: { try Contract.Lookup.readArguments(from: &$0, by: names) },
            writing: { try Contract.Lookup.writeReply(([1], "host"), to: &$0) })
        try await expect(
            Contract.LookupValue.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: "\((value: Value.boolean(true), layer: "host"))",
            reading: { try Contract.LookupValue.readArguments(from: &$0, by: names) },
            writing: { try Contract.LookupValue.writeReply((.boolean(true), "host"), to: &$0) })
        try await expect(
            Contract.IsLocked.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: "true",
            reading: { try Contract.IsLocked.readArguments(from: &$0, by: names) },
            writing: { try Contract.IsLocked.writeReply(true, to: &$0) })
        try await expect(
            Contract.Explain.self, ("d", "k"), brings: #"(domain: "d", key: "k")"#,
            replies: #"[(layer: "managed", source: "/f", isLocked: true, size: 4)]"#,
            reading: { try Contract.Explain.readArguments(from: &$0, by: names) },
            writing: { try Contract.Explain.writeReply([("managed", "/f", true, 4)], to: &$0) })
    }

    @Test func `Whole domains arrive as they were sent`() async throws {
        let names = names
        try await expect(
            Contract.ListKeys.self, "d", brings: "d", replies: #"["a", "b"]"#,
            reading: { try Contract.ListKeys.readArguments(from: &$0, by: names) },
            writing: { try Contract.ListKeys.writeReply(["a", "b"], to: &$0) })
        try await expect(
            Contract.GetAll.self, "d", brings: "d",
            replies: #"(entries: [("a", [1])], generation: 5)"#,
            reading: { try Contract.GetAll.readArguments(from: &$0, by: names) },
            writing: {
                try Contract.GetAll.writeReply(at: 5, to: &$0) {
                    try $0.writeArchive([1], forKey: "a")
                }
            })
        let entries = [("a", Value.int64(1))]
        try await expect(
            Contract.GetAllValues.self, "d", brings: "d",
            replies: "\((entries: entries, unrepresentable: ["b"], generation: UInt64(5)))",
            reading: { try Contract.GetAllValues.readArguments(from: &$0, by: names) },
            writing: {
                try Contract.GetAllValues.writeReply(at: 5, to: &$0) {
                    try $0.writeVariant(.int64(1), forKey: "a")
                } unrepresentable: {
                    ["b"]
                }
            })
    }

    @Test func `The changes of a domain arrive as they were sent`() async throws {
        let names = names
        let (read, reply) = try await exchange.carry(Contract.GetChanges.self, ("d", 4)) {
            try Contract.GetChanges.readArguments(from: &$0, by: names)
        } write: {
            try Contract.GetChanges.writeReply(
                removed: ["c"], generation: 6, isComplete: true, to: &$0
            ) {
                try $0.writeArchive([1], forKey: "a")
            } large: {
                ["b"]
            }
        }
        #expect(read == ("d", 4))
        #expect("\(reply.changed)" == #"[("a", [1])]"#)
        #expect(reply.large == ["b"] && reply.removed == ["c"])
        #expect(reply.generation == 6 && reply.isComplete)
    }

    @Test func `Times arrive with their keys, and the keys are counted`() async throws {
        let names = names
        let (read, reply) = try await exchange.carry(Contract.GetTimes.self, ("d", ["a", "b"])) {
            try Contract.GetTimes.readArguments(from: &$0, by: names)
        } write: {
            try Contract.GetTimes.writeReply(
                [
                    (key: "a", generation: 2, time: 0),
                    (key: "b", generation: 3, time: 1_700_000_000),
                ] as [Contract.GetTimes.Row], to: &$0)
        }
        #expect(read.domain == "d" && read.keys == ["a", "b"])
        #expect(
            "\(reply.map { "\($0.key) \($0.generation) \($0.time)" })"
                == #"["a 2 0", "b 3 1700000000"]"#)
        let many = [String](repeating: "k", count: ContractLimits.maximumTransactionKeys + 1)
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.GetTimes.self, ("d", many)) {
                try Contract.GetTimes.readArguments(from: &$0, by: names)
            } write: { _ in
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        TransactionOptions<PlainNames>(), TransactionOptions(isDurable: true, token: "t"),
        TransactionOptions(isUndo: true, unchangedSince: 7, listsLocked: true),
    ])
    func `A transaction arrives with all its parts`(
        options: TransactionOptions<PlainNames>
    ) async throws {
        let names = names
        let sent = Contract.Apply.Arguments(
            domain: "d", set: [("a", [1])], removed: ["b"], expected: [("c", 2), ("", 0)],
            options: options)
        let (read, generation) = try await exchange.carry(Contract.Apply.self, sent) {
            try Contract.Apply.readArguments(from: &$0, by: names)
        } write: {
            try Contract.Apply.writeReply(3, to: &$0)
        }
        #expect("\(read)" == "\(sent)")
        #expect(generation == 3)
    }

    @Test func `A transaction of D-Bus values arrives as archives`() async throws {
        let names = names
        let sent = Contract.ApplyValues.Arguments(domain: "d", set: [("a", .int64(1))])
        let (read, _) = try await exchange.carry(Contract.ApplyValues.self, sent) {
            try Contract.ApplyValues.readArguments(from: &$0, by: names)
        } write: {
            try Contract.ApplyValues.writeReply(3, to: &$0)
        }
        #expect(read.set.map(\.0) == ["a"])
        #expect(try read.set.map { try VariantForm.value(of: $0.1) } == [.int64(1)])
    }

    @Test func `A page and the slots of domains arrive as they were sent`() async throws {
        let (read, reply) = try await exchange.carry(Contract.Attach.self, ["d", "e"]) {
            try Contract.Attach.readArguments(from: &$0) { $0 }
        } write: {
            let page = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
            try Contract.Attach.writeReply(page, at: 9, to: &$0) { array in
                try Contract.Attach.writeDomain("d", slot: 17, locked: ["l*"], to: &array) {
                    try $0.writeArchive([1], forKey: "a")
                } large: {
                    ["b"]
                }
            }
        }
        #expect(read == ["d", "e"])
        #expect(reply.page.number >= 0 && reply.generation == 9)
        #expect(reply.domains.map(\.spelling) == ["d"] && reply.domains.map(\.slot) == [17])
        #expect("\(reply.domains.map(\.entries))" == #"[[("a", [1])]]"#)
        #expect(reply.domains.map(\.large) == [["b"]] && reply.domains.map(\.locked) == [["l*"]])
    }

    @Test func `Domains arrive with D-Bus values`() async throws {
        let (_, reply) = try await exchange.carry(Contract.AttachValues.self, ["d"]) {
            try Contract.AttachValues.readArguments(from: &$0) { $0 }
        } write: {
            let page = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
            try Contract.AttachValues.writeReply(page, at: 9, to: &$0) { array in
                try Contract.AttachValues.writeDomain("d", slot: 17, locked: [], to: &array) {
                    try $0.writeVariant(.int64(1), forKey: "a")
                } large: {
                    ["b"]
                }
            }
        }
        let domain = try #require(reply.domains.first)
        #expect(domain.entries.map(\.0) == ["a"] && domain.entries.map(\.1) == [.int64(1)])
        #expect(domain.large == ["b"])
    }

    @Test func `A signal with values says if a value is missing`() {
        let names = ChangedSignal(
            domain: "d", layer: "host", changed: ["a", "b"], removed: ["c"], generation: 9,
            origin: ":1.2")
        let values = [(key: "a", archive: [1] as [UInt8]), (key: "b", archive: [2])]
        #expect(ChangedValuesSignal(names, archives: values).isComplete)
        #expect(!ChangedValuesSignal(names, archives: nil).isComplete)
        let unnamed = ChangedSignal(
            domain: "d", layer: "host", changed: [], removed: [], generation: 9, origin: "")
        #expect(!ChangedValuesSignal(unnamed, archives: []).isComplete)
    }

    // MARK: The order in which a call is refused

    /// Refuses every name.
    private struct NoNames: TransactionNames {
        static let refusal = ContractError(.invalidDomain, "Refused.")

        func domain(_ text: String) throws -> String { throw Self.refusal }
        func key(_ text: String) throws -> String { throw Self.refusal }
        func token(_ text: String) throws -> String { throw Self.refusal }
        func expectation(_ key: String, _ generation: UInt64) throws -> String {
            throw Self.refusal
        }
    }

    @Test func `A call with a bad domain and too large an archive is refused for the domain`()
        async throws
    {
        let archive = [UInt8](repeating: 0, count: ContractLimits.maximumValueSize + 1)
        await #expect(throws: NoNames.refusal) {
            try await exchange.carry(Contract.Set.self, ("d", "k", archive)) {
                try Contract.Set.readArguments(from: &$0, by: NoNames())
            } write: { _ in
            }
        }
    }

    @Test func `An archive above the largest size is refused`() async throws {
        let names = names
        let archive = [UInt8](repeating: 0, count: ContractLimits.maximumValueSize + 1)
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Set.self, ("d", "k", archive)) {
                try Contract.Set.readArguments(from: &$0, by: names)
            } write: { _ in
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `The domains of an Attach are counted before any beyond the limit is parsed`()
        async throws
    {
        let domains =
            [String](repeating: "d", count: ContractLimits.maximumAttachedDomains) + ["bad"]
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Attach.self, domains) {
                try Contract.Attach.readArguments(from: &$0) { name in
                    if name == "bad" { throw NoNames.refusal }
                }
            } write: { _ in
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `The keys of a transaction are counted together`() async throws {
        let names = names
        let half = (0...ContractLimits.maximumTransactionKeys / 2).map { "\($0)" }
        let sent = Contract.Apply.Arguments(
            domain: "d", set: half.map { ($0, []) }, removed: half)
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Apply.self, sent) {
                try Contract.Apply.readArguments(from: &$0, by: names)
            } write: { _ in
            }
        }
        #expect(error?.code == .tooLarge)
    }
}
