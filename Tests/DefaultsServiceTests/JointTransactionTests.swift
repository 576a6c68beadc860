import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// Changes of several domains at once.
@Suite struct JointTransactionTests {
    @Test func `Several domains are one change with one generation and a signal for each`()
        async throws
    {
        try await withCaller { caller, service in
            try await caller.set("a.b", "old", 0)
            service.peer.forgetEvents()
            let made = try await caller.applyAll([
                caller.part("a.b", ["x": 1], removing: ["old"]),
                caller.part("a.c@host", ["y": "z"]), caller.part("a.d", removing: ["absent"]),
            ])
            #expect(made == 3)
            let signals = service.peer.changes.sorted { $0.domain < $1.domain }
            #expect(signals.map(\.domain) == ["a.b", "a.c"])
            #expect(signals.map(\.layer) == ["domain", "host"])
            #expect(signals.map(\.changed) == [["x"], ["y"]])
            #expect(signals.map(\.removed) == [["old"], []])
            #expect(signals.map(\.generation) == [3, 3])
            #expect(try await caller.values("a.b") == ["x": 1])
            #expect(try await caller.get("a.c@host", "y") == ("z", 3))
        }
    }

    @Test func `What is wrong with one domain leaves all as they were`() async throws {
        func part(
            _ domain: String, _ set: Value, _ removed: [String] = [],
            _ expected: [(String, UInt64)] = []
        ) -> Value {
            .structure([.string(domain), set, .strings(removed), .generations(expected)])
        }
        let wrong = [
            part("a.c", ["y": 2], [], [("y", 9)]), part("a.c", ["y": 2], ["y"]),
            part("a.b", ["y": 2]), part("a c", [:]), part("a.c@managed", ["y": 2]),
            part("a.c", ["y": .dictionary(key: "i", value: "b", [.init(.int32(1), true)])]),
            part("a.c", ["": 2]),
        ]
        try await withCaller { caller, _ in
            try await caller.set("a.b", "x", 0)
            for second in wrong {
                let refused = try await refusal {
                    try await caller.ask(
                        "ApplyAllValues",
                        [
                            .array(of: "(sa{sv}asa{st})", [part("a.b", ["x": 1]), second]), [:],
                        ])
                }
                #expect(refused != nil, "\(second)")
                #expect(try await caller.values("a.b") == ["x": 0], "\(second)")
                #expect(try await caller.values("a.c").isEmpty, "\(second)")
                #expect(try await caller.generation() == 2, "\(second)")
            }
        }
    }

    @Test func `A repetition with the token of a change of several domains has its reply`()
        async throws
    {
        try await withCaller { caller, _ in
            let parts = [caller.part("a.b", removing: ["absent"]), caller.part("a.c", ["y": 1])]
            for number in 1...2 {
                #expect(
                    try await caller.applyAll(parts, .init(isDurable: true, token: "t")) == 2)
                try await caller.set("a.d", "z", .int64(Int64(number)))
            }
            try await caller.set("a.c", "y", 5)
            #expect(try await caller.applyAll(parts, .init(token: "t")) == 2)
            #expect(try await caller.get("a.c", "y").value == 5)
            #expect(try await caller.applyAll([]) == 5)
        }
    }

    @Test func `Each domain of a change counts as if those before it were made`() async throws {
        try await withCaller { caller, _ in
            try await caller.set(QuotaTerms.domain, QuotaTerms.everybody, ["AllDomains": 3])
            let parts = ["a.b", "a.c", "a.d"].map { caller.part($0, ["x": 1]) }
            let refused = try await refusal { try await caller.applyAll(parts) }
            #expect(refused?.code == .limitsExceeded)
            #expect(try await caller.domains() == [QuotaTerms.domain])
            try await caller.applyAll(Array(parts.prefix(2)))
        }
    }
}
