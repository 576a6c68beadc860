import DBus
import DefaultsProtocol
import Testing

@testable import ServiceHarness

/// Changes that are made only if something has not changed.
@Suite struct ExpectationTests {
    private let app = "org.example.App"
    private let other = "org.example.Other"

    @Test func `All expectations are met, or nothing is changed`() async throws {
        let cases: [(expected: KeyValuePairs<String, UInt64>, holds: Bool)] = [
            (["a": 2], true), (["a": 3], false), (["a": 0], false),
            (["absent": 0], true), (["absent": 2], false),
            (["": 2], true), (["": 3], true), (["": 1], false), (["": 4], false),
            (["": 0], false), (["a": 2, "": 1], false),
        ]
        for (expected, holds) in cases {
            try await withCaller { caller, _ in
                try await caller.apply(app, ["a": 1])
                try await caller.set(other, "x", 1)
                // Checked before the rule of no change, too.
                let sets: [KeyValuePairs<String, Value>] = [["a": 1], ["b": 2]]
                for set in sets {
                    let refused = try await refusal {
                        try await caller.apply(app, set, expecting: expected)
                    }
                    #expect(refused?.code == (holds ? nil : .conflict), "\(expected)")
                }
                #expect(
                    try await caller.keys(app) == (holds ? ["a", "b"] : ["a"]), "\(expected)")
            }
        }
    }

    @Test func `A domain without keys meets the expectation 0 for the whole domain`()
        async throws
    {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["a": 1], expecting: ["": 0])
            let refused = try await refusal {
                try await caller.apply(app, ["b": 1], expecting: ["": 0])
            }
            #expect(refused?.code == .conflict)
            try await caller.removeDomain(app)
            try await caller.apply(app, ["b": 1], expecting: ["": 0])
        }
    }

    /// A change, the generation since which its keys are to be unchanged, and what the refusal says.
    private struct Case: Sendable, CustomTestStringConvertible {
        var set: [String] = []
        var removed: [String] = []
        let since: UInt64
        var conflict: String?
        var value: Value = 9

        var testDescription: String { "\(set) \(removed) since \(since)" }
    }

    private static let cases = [
        // The generations: 2 sets a, b and c; 3 changes a and removes b; 4 is another domain's.
        Case(set: ["a"], since: 2, conflict: "'a' of org.example.App"), Case(set: ["a"], since: 3),
        Case(set: ["c"], since: 2),
        Case(set: ["c"], removed: ["a"], since: 2, conflict: "generation 3"),
        Case(set: ["b"], since: 2, conflict: "'b' of org.example.App"), Case(set: ["b"], since: 3),
        Case(set: ["new"], since: 1), Case(removed: ["b"], since: 2, conflict: "generation 3"),
        Case(since: 2), Case(set: ["c"], since: 1, conflict: "generation 2", value: 1),
        Case(set: ["c"], since: 4), Case(set: ["c"], since: 5, conflict: "unknown"),
        Case(set: ["c"], since: 0, conflict: "generation 2"),
        Case(set: ["new"], since: 0, conflict: "unknown"),
    ]

    @Test(arguments: cases)
    private func `With unchanged-since, no key of the change may have changed after that`(
        attempt: Case
    ) async throws {
        try await withCaller { caller, service in
            try await caller.apply(app, ["a": 1, "b": 1, "c": 1])
            try await caller.apply(app, ["a": 2], removing: ["b"])
            try await caller.set(other, "c", 1)
            var first: UInt64?
            try await service.inEachProcess { caller in
                let call = try await caller.send(
                    Contract.ApplyValues.self,
                    .init(
                        domain: app, set: attempt.set.map { ($0, attempt.value) },
                        removed: attempt.removed,
                        options: .init(token: "once", unchangedSince: attempt.since)))
                guard let conflict = attempt.conflict else {
                    // The token has the reply of the first one, which has changed its keys itself.
                    first = try first ?? call.get()
                    return #expect(try call.get() == first)
                }
                let refused = try await refusal { try call.get() }
                #expect(refused?.code == .conflict)
                #expect(refused?.message.contains(conflict) == true)
                #expect(refused?.message.contains("Nothing was changed") == true)
                #expect(try await caller.generation() == 4)
            }
        }
    }

    @Test func `ApplyAll with unchanged-since changes all domains or none`() async throws {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["a": 1])
            try await caller.set(other, "b", 1)
            func applyAll(since: UInt64) async throws -> UInt64 {
                try await caller.applyAll(
                    [
                        caller.part(app, ["a": 5]),
                        caller.part(other, ["c": 5], removing: ["b"]),
                    ], .init(unchangedSince: since))
            }
            let refused = try await refusal { try await applyAll(since: 2) }
            #expect(refused?.code == .conflict)
            #expect(refused?.message.contains("'b' of org.example.Other") == true)
            #expect(try await caller.generation() == 3)
            #expect(try await applyAll(since: 3) == 4)
            #expect(try await refusal { try await applyAll(since: 3) }?.code == .conflict)
        }
    }
}
