import ArchiveTestSupport
import DBus
import DefaultsProtocol
import DefaultsTerms
import PropertyList
import Testing

@testable import ServiceHarness

/// Whole domains, and how much of them one reply contains.
@Suite struct WholeDomainTests {
    private let app = "org.example.App"

    /// An archive of data with this many bytes; the archive has some hundred more.
    private func blob(_ size: Int, _ mark: UInt8 = 0) -> [UInt8] {
        Tree.archive(.data([UInt8](repeating: mark, count: size)))
    }

    /// An object that contains itself, which D-Bus cannot carry.
    private let cycle = Tree.archive(["$class": .uid(2), "me": .uid(1)], .record("A"))

    private func number(_ number: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    @Test func `GetAll gives every archive byte for byte, in the order of the keys`() async throws {
        try await withCaller { caller, _ in
            let entries = (0..<300).map { ("key \(number($0))", blob($0, UInt8($0 % 7))) }
            let generation = try await caller.put(app, entries.reversed())
            #expect(generation == 2)
            let got = try await caller.call(Contract.GetAll.self, app)
            #expect(got.generation == 2)
            #expect(got.entries.map(\.0) == entries.map(\.0))
            #expect(got.entries.map(\.1) == entries.map(\.1))
            try await caller.put(app + "@host", [("x", blob(1))])
            let host = try await caller.call(Contract.GetAll.self, app + "@host")
            #expect(host.entries.map(\.0) == ["x"])
            for domain in ["org.example.Absent", app + "@managed"] {
                let none = try await caller.call(Contract.GetAll.self, domain)
                #expect(none.entries.isEmpty && none.generation == 3)
            }
        }
    }

    @Test func `If a reply would be larger than 32 MiB, TooLarge says what to call instead`()
        async throws
    {
        try await withCaller { caller, _ in
            let mebibyte = 1 << 20
            for key in ["0", "1", "2"] { try await caller.put(app, [(key, blob(10 * mebibyte))]) }
            #expect(try await caller.call(Contract.GetAll.self, app).entries.count == 3)
            try await caller.put(app, [("3", blob(2 * mebibyte))])
            let refusals = [
                try await refusal { try await caller.call(Contract.GetAll.self, app) },
                try await refusal { try await caller.call(Contract.GetAllValues.self, app) },
            ]
            for refused in refusals {
                #expect(refused?.code == .tooLarge)
                #expect(refused?.message.contains("GetChanges") == true)
            }
            let changes = try await caller.changes(of: app, since: 0)
            #expect(changes.changed.isEmpty && changes.large == ["0", "1", "2", "3"])
            #expect(changes.removed.isEmpty && changes.generation == 5 && !changes.isComplete)
            let archive = try await caller.call(Contract.Get.self, (domain: app, key: "2")).archive
            #expect(archive.count > 10 * mebibyte)
        }
    }

    @Test func `Entries above 64 KiB, and those after the first 4 MiB, are named in large`()
        async throws
    {
        try await withCaller { caller, _ in
            let overhead = blob(60000).count - 60000
            let limit = ContractLimits.maximumBulkEntrySize
            try await caller.put(
                app, [("at", blob(limit - overhead)), ("above", blob(limit - overhead + 1))])
            let changes = try await caller.changes(of: app, since: 1)
            #expect(changes.changed.map(\.0) == ["at"] && changes.changed.first?.1.count == limit)
            #expect(changes.large == ["above"])
            let other = "org.example.Many"
            let keys = (0..<100).map(number)
            try await caller.put(other, keys.map { ($0, blob(60000)) })
            let many = try await caller.changes(of: other, since: 1)
            let sent = many.changed.reduce(0) { $0 + $1.1.count }
            let most = ContractLimits.maximumBulkSize
            #expect(most - limit < sent && sent <= most)
            #expect(many.changed.map(\.0).sorted() + many.large == keys && many.isComplete)
        }
    }

    @Test func `GetAllValues names what D-Bus cannot carry, and returns the rest`() async throws {
        func nested(_ depth: Int) -> Value {
            (0..<depth).reduce(.int64(1)) { value, _ in .array(of: "v", [.variant(value)]) }
        }
        try await withCaller { caller, _ in
            try await caller.put(app, [("cycle", cycle)])
            try await caller.set(app, "deepest", nested(30))
            try await caller.set(app, "plain", "text")
            #expect(try await caller.get(app, "deepest").value == nested(30))
            var reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.map(\.0) == ["deepest", "plain"])
            #expect(reply.unrepresentable == ["cycle"] && reply.generation == 4)
            try await caller.set(app, "deeper", nested(31))
            #expect(try await caller.get(app, "deeper").value == nested(31))
            reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.map(\.0) == ["deepest", "plain"])
            #expect(reply.unrepresentable == ["cycle", "deeper"] && reply.generation == 5)
        }
    }

    /// 22 arrays, each twice the one before, in some hundred bytes.
    private var bomb: [UInt8] {
        let arrays = (0..<22).map { number -> Tree in
            let last = Tree.uid(number == 0 ? 1 : UInt64(number) + 2)
            return ["NS.objects": [last, last], "$class": .uid(2)]
        }
        return Tree(archive: ["x", .record("NSArray")] + arrays, top: ["root": .uid(24)]).bytes()
    }

    @Test func `GetAllValues limits its work on values that it leaves out`() async throws {
        try await withCaller { caller, _ in
            try await caller.put(app, [("bomb", bomb), ("plain", blob(1))])
            var reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.map(\.0) == ["plain"] && reply.unrepresentable == ["bomb"])
            // They are counted and not made, so that a hundred of them cost hardly more than one.
            try await caller.put(app, (0..<100).map { ("bomb \(number($0))", bomb) })
            reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.map(\.0) == ["plain"] && reply.unrepresentable.count == 101)
        }
    }

    @Test func `The names of values that GetAllValues cannot show count for its reply`()
        async throws
    {
        try await withCaller { caller, _ in
            let filler = String(repeating: "k", count: 1000)
            // Both together leave a little more room than five of the names need.
            let large = blob(ContractLimits.maximumReplySize / 2 - 4096)
            for key in ["plain", "plain too"] { try await caller.put(app, [(key, large)]) }
            try await caller.put(app, (0..<5).map { ("\(number($0)) \(filler)", cycle) })
            var reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.count == 2 && reply.unrepresentable.count == 5)
            try await caller.put(app, (5..<100).map { ("\(number($0)) \(filler)", cycle) })
            let refused = try await refusal {
                try await caller.call(Contract.GetAllValues.self, app)
            }
            #expect(refused?.code == .tooLarge)
            try await caller.remove(app, "plain too")
            reply = try await caller.call(Contract.GetAllValues.self, app)
            #expect(reply.entries.count == 1 && reply.unrepresentable.count == 100)
        }
    }
}
