import ArchiveTestSupport
import DBus
import DefaultsProtocol
import PropertyList
import Testing

@testable import ServiceHarness

/// Values as they are sent, and as they come back.
@Suite struct ValueFormTests {
    private let app = "org.example.App"

    @Test func `A D-Bus value comes back in the value form`() async throws {
        let numbers = Value.dictionary(
            key: "s", value: "i",
            [.init("b", .int32(1)), .init("a", .int32(2))])
        let object: Value = ["$class": "Account", "username": "ada"]
        let date: Value = ["$class": "NSDate", "NS.time": 725_760_000.0]
        let set: Value = ["$class": "NSSet", "NS.objects": ["a"]]
        let cases: [(sent: Value, expected: Value)] = [
            (true, true), (.byte(7), 7), (.int32(-5), -5), (.uint64(.max), .uint64(.max)),
            (1.5, 1.5), ("text", "text"), (.objectPath("/a"), "/a"), (.signature("as"), "as"),
            (.bytes([97, 98, 0]), .bytes([97, 98, 0])),
            (.array(of: "i", [.int32(1), .int32(2)]), [1, 2]),
            (.structure(["a", true]), ["a", true]),
            (.variant(.variant("nested")), "nested"), (numbers, ["a": 2, "b": 1]),
            (["$class": "$null"], ["$class": "$null"]), (date, date), (set, set), (object, object),
            (
                ["$class": "NSDictionary", "NS.keys": [.int32(1)], "NS.objects": ["one"]],
                ["$class": "NSDictionary", "NS.keys": [1], "NS.objects": ["one"]]
            ),
            (
                ["$class": "A", "n": ["$class": "NSNumber", "$value": .int32(42)]],
                ["$class": "A", "n": ["$class": "NSNumber", "$value": 42]]
            ),
            ([], []), ([:], [:]),
        ]
        try await withCaller { caller, _ in
            for (sent, expected) in cases {
                let generation = try await caller.set(app, "Key", sent)
                #expect(try await caller.get(app, "Key") == (expected, generation), "\(sent)")
            }
            #expect(try await caller.generation() == UInt64(cases.count) + 1)
        }
    }

    @Test func `Keys and domains are listed in order, and a removal takes them away`() async throws
    {
        try await withCaller { caller, _ in
            for key in ["Zebra", "apple", "Ärger"] { try await caller.set(app, key, 1) }
            try await caller.set("org.example.Game@host", "Key", 1)
            try await caller.set("NSGlobalDomain", "Key", 1)
            #expect(try await caller.keys(app) == ["Zebra", "apple", "Ärger"])
            #expect(
                try await caller.domains() == ["NSGlobalDomain", app, "org.example.Game@host"])
            #expect(try await caller.remove("NSGlobalDomain", "Key") == 7)
            #expect(try await caller.domains() == [app, "org.example.Game@host"])
        }
    }

    @Test func `Each change is reported once, and the same value not at all`() async throws {
        try await withCaller { (caller, service) async throws in
            #expect(try await caller.set(app, "Key", true) == 2)
            #expect(try await caller.set(app, "Key", true) == 2)
            #expect(try await caller.set(app + "@host", "Key", true) == 3)
            #expect(try await caller.remove(app, "Key") == 4)
            #expect(try await caller.remove(app, "Key") == 4)
            func signal(
                _ layer: String, _ changed: [String], _ removed: [String], _ generation: UInt64
            ) -> ChangedSignal {
                ChangedSignal(
                    domain: app, layer: layer, changed: changed, removed: removed,
                    generation: generation, origin: caller.name)
            }
            #expect(
                service.peer.changes == [
                    signal("domain", ["Key"], [], 2), signal("host", ["Key"], [], 3),
                    signal("domain", [], ["Key"], 4),
                ])
        }
    }

    @Test func `An object whose field is named like an element before the first is an object`()
        async throws
    {
        let odd = Tree.archive(
            ["$class": .uid(2), "NS.object.-1": .uid(0)], .record("NSArray"))
        try await withCaller { caller, _ in
            try await caller.put(app, [("Key", odd)])
            #expect(
                try await caller.get(app, "Key")
                    == (["$class": "NSArray", "NS.object.-1": ["$class": "$null"]], 2))
        }
    }

    @Test func `The same graph in other bytes is not a change`() async throws {
        func archive(_ order: [UInt64]) -> [UInt8] {
            let (keys, values) = (order.map { Tree.uid(3 + $0) }, order.map { Tree.uid(5 + $0) })
            return Tree.archive(
                ["$class": .uid(2), "NS.keys": .array(keys), "NS.objects": .array(values)],
                .record("NSDictionary"), "a", "b", "one", "two")
        }
        let (one, other) = (archive([0, 1]), archive([1, 0]))
        #expect(one != other)
        try await withCaller { (caller, _) async throws in
            #expect(try await caller.put(app, [("Key", one)]) == 2)
            #expect(try await caller.put(app, [("Key", other)]) == 2)
            #expect(try await caller.get(app, "Key").value == ["a": "one", "b": "two"])
        }
    }
}
