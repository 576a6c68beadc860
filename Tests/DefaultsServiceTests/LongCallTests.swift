import DBus
import DefaultsProtocol
import Testing

@testable import DefaultsCore
@testable import ServiceHarness

/// Calls that take long, and what others can do meanwhile.
@Suite struct LongCallTests {
    private let huge = "org.example.Huge"
    private let other = "org.example.Other"
    /// More keys than the service reads at once.
    private let count = 600

    private func fill(
        _ caller: TestCaller, last value: Int64 = 0
    ) async throws {
        let keys = (0..<count).map { "key \(100_000 + $0)" }
        try await caller.call(
            Contract.ApplyValues.self,
            .init(domain: huge, set: keys.map { ($0, .int64(value)) }))
    }

    /// Makes a call whose work stands still on its thread, and changes and reads meanwhile.
    ///
    /// If the call held the loop instead, it would have its answer.
    private func expectOvertaken<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, in lane: Lanes.Lane = .answers,
        _ caller: TestCaller, _ service: TestService
    ) async throws -> C.Reply {
        let another = try await service.caller()
        let hold = try await service.hold(lane)
        let long = try await caller.send(call, arguments)
        let generation = try await another.set(other, "key", 1)
        #expect(try await another.get(other, "key") == (1, generation))
        #expect(!long.isAnswered, "\(C.method.name)")
        await hold.release()
        try await another.set(other, "key", 0)
        return try long.get()
    }

    @Test func `While a huge domain is read, others change and read their own`() async throws {
        try await withCaller { caller, service in
            try await fill(caller)
            let values = try await expectOvertaken(
                Contract.GetAllValues.self, huge, caller, service)
            #expect(values.entries.count == count)
            let all = try await expectOvertaken(Contract.GetAll.self, huge, caller, service)
            #expect(all.entries.count == count)
            let keys = try await expectOvertaken(Contract.ListKeys.self, huge, caller, service)
            #expect(keys.count == count)
            let changes = try await expectOvertaken(
                Contract.GetChanges.self, (domain: huge, since: 0), caller, service)
            #expect(changes.changed.count == count)
            let attached = try await expectOvertaken(
                Contract.Attach.self, [huge], caller, service)
            #expect(attached.domains.map(\.entries.count) == [count])
        }
    }

    @Test func `While very many domains are listed, others change and read their own`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.applyAll(
                (0..<count).map { caller.part("org.example.Made\($0)", ["key": 1]) })
            try await caller.set(other, "key", 0)
            let domains = try await expectOvertaken(
                Contract.ListDomains.self, (), caller, service)
            #expect(domains.count == count + 1)
        }
    }

    @Test func `While a large value is set and shown, others continue`() async throws {
        let keys = (0..<2000).map { "key \(100_000 + $0) " + String(repeating: "x", count: 60) }
        let large = Value.variants(keys.map { ($0, 1) })
        try await withCaller { caller, service in
            _ = try await expectOvertaken(
                Contract.SetValue.self, (domain: huge, key: "large", value: large),
                in: .conversions, caller, service)
            let shown = try await expectOvertaken(
                Contract.GetValue.self, (domain: huge, key: "large"), in: .conversions, caller,
                service)
            #expect(shown.value == large)
            let generation = try await expectOvertaken(
                Contract.ApplyValues.self, .init(domain: huge, set: [("large", large)]),
                in: .conversions, caller, service)
            #expect(generation > 1)
            #expect(try await caller.get(huge, "large").value == large)
        }
    }

    @Test func `A caller's later change does not overtake its long read`() async throws {
        try await withCaller { caller, service in
            try await fill(caller)
            let key = "key 100001"
            for round in 1...3 {
                let hold = try await service.hold(.answers)
                let read = try await caller.send(Contract.GetAllValues.self, huge)
                let change = try await caller.send(
                    Contract.SetValue.self,
                    (domain: huge, key: key, value: .int64(Int64(round))))
                let later = try await caller.send(
                    Contract.GetValue.self, (domain: huge, key: key))
                #expect(!read.isAnswered && !change.isAnswered && !later.isAnswered)
                caller.forgetEvents()
                await hold.release()
                #expect(
                    caller.events == [
                        .reply("GetAllValues"), .reply("SetValue"), .reply("GetValue"),
                    ])
                let reply = try read.get()
                let before = reply.entries.first { $0.0 == key }?.1
                #expect(before == .int64(Int64(round - 1)))
                #expect(try reply.generation < change.get())
                #expect(try later.get().value == .int64(Int64(round)))
            }
        }
    }

    @Test func `A long answer has one generation while others keep changing the domain`()
        async throws
    {
        try await withCaller { caller, service in
            try await fill(caller)
            let (first, last) = ("key 100000", "key \(100_000 + count - 1)")
            let another = try await service.caller()
            func change(to number: Int64) async throws -> UInt64 {
                try await another.apply(huge, [first: .int64(number), last: .int64(number)])
            }
            for round: Int64 in 0..<3 {
                let made = try await change(to: 3 * round + 1)
                let hold = try await service.hold(.answers)
                let read = try await caller.send(Contract.GetAllValues.self, huge)
                let archives = try await caller.send(Contract.GetAll.self, huge)
                _ = try await change(to: 3 * round + 2)
                if round == 1 { try await another.synchronize() }
                _ = try await change(to: 3 * round + 3)
                #expect(!read.isAnswered)
                await hold.release()
                let reply = try read.get()
                let values = Dictionary(uniqueKeysWithValues: reply.entries)
                #expect(reply.generation == made)
                #expect(values[first] == .int64(3 * round + 1))
                #expect(values[last] == .int64(3 * round + 1))
                #expect(try archives.get().entries.count == count)
            }
        }
    }

    @Test func `A damaged value in a long answer is left out, and the store is repaired`()
        async throws
    {
        try await withCaller { caller, service in
            try await fill(caller)
            try await caller.set(huge, "key 100077", "to be damaged")
            try await caller.synchronize()
            try await service.restart {
                try service.files.removeBackups()
                try service.files.damage("key 100077")
            }
            let next = try await service.caller()
            service.peer.forgetEvents()
            let reply = try await next.call(Contract.GetAll.self, huge)
            #expect(reply.entries.count == count - 1)
            #expect(service.peer.changes.map(\.removed) == [["key 100077"]])
            #expect(try await next.keys(huge).count == count - 1)
            #expect(try await next.statistic(.repairs) == 1)
            let repair = try await next.call(Contract.GetStatistics.self, ())[.lastRepair]
            guard case .string(let text) = repair else {
                return #expect(Bool(false), "\(String(describing: repair))")
            }
            #expect(text.contains("1 key is lost"), "\(text)")
        }
    }
}
