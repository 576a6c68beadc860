import ArchiveTestSupport
import DBus
import DefaultsProtocol
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ServiceHarness

/// Several keys of a domain at once.
@Suite struct TransactionTests {
    private let app = "org.example.App"
    private let other = "org.example.Other"

    @Test func `A key that has its value already is not in the change`() async throws {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["a": 1, "b": 2])
            try await caller.apply(app, ["a": 1, "b": 3])
            #expect(try await caller.get(app, "a") == (1, 2))
            #expect(try await caller.apply(app, ["a": 1], removing: ["absent"]) == 3)
            #expect(try await caller.apply(app) == 3)
        }
    }

    @Test func `A durable transaction is on disk when its reply comes`() async throws {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["a": 1], .init(isDurable: true))
            #expect(try await caller.durableGeneration() == 2)
            // No change is to be on disk, too.
            try await caller.apply(app, ["a": 2])
            #expect(try await caller.durableGeneration() == 2)
            #expect(try await caller.apply(app, ["a": 2], .init(isDurable: true)) == 3)
            #expect(try await caller.durableGeneration() == 3)
        }
    }

    @Test func `Both lists are empty if there are too many names`() async throws {
        try await withCaller { caller, service in
            for length in [4, 100] {
                let keys = (0..<1000).map { number in
                    let digits = "\(number)"
                    return String(repeating: "0", count: length - digits.count) + digits
                }
                try await caller.call(
                    Contract.ApplyValues.self,
                    .init(domain: app, set: keys.map { ($0, .int64(1)) }))
            }
            let signals = service.peer.changes
            #expect(signals.map(\.changed.count) == [1000, 0])
            #expect(signals.map(\.removed.count) == [0, 0])
            #expect(signals.map(\.generation) == [2, 3])
        }
    }

    @Test func `Rename moves a value, and refuses an existing new name or a missing old one`()
        async throws
    {
        try await withCaller { caller, _ in
            try await caller.apply(app, ["old": 1, "taken": 2])
            for (old, new, code) in [
                ("old", "taken", ContractError.Code.conflict), ("old", "old", .conflict),
                ("absent", "new", .notFound), ("old", "", .invalidKey),
            ] {
                let refused = try await refusal { try await caller.rename(app, old, new) }
                #expect(refused?.code == code, "\(old) \(new)")
            }
            #expect(try await caller.rename(app, "old", "new") == 3)
            #expect(try await caller.values(app) == ["new": 1, "taken": 2])
            #expect(try await caller.generation() == 3)
        }
    }

    @Test func `The layers of others are locked`() async throws {
        try await withCaller { caller, _ in
            for domain in [app + "@managed", app + "@system"] {
                let refusals = [
                    try await refusal { try await caller.removeDomain(domain) },
                    try await refusal { try await caller.rename(domain, "a", "b") },
                    try await refusal { try await caller.put(domain, []) },
                ]
                for refused in refusals { #expect(refused?.code == .locked) }
            }
        }
    }

    @Test func `A refused archive is named by its key, and nothing is changed`() async throws {
        try await withCaller { caller, _ in
            let refused = try await refusal { try await caller.put(app, [("bad", [1, 2, 3])]) }
            #expect(refused?.code == .invalidArchive)
            #expect(refused?.message.contains("For the key 'bad': ") == true)
            #expect(try await caller.domains().isEmpty)
        }
    }

    @Test func `A contradiction is InvalidArgs, with the reason`() async throws {
        let cases: [(set: Value, removed: [String], options: Value, words: String)] = [
            (["a": 1], ["a"], [:], "The key 'a' is both in 'set' and in 'remove'."),
            ([:], ["a", "a"], [:], "The key 'a' appears twice in 'remove'."),
            (.variants([("k", 1), ("k", 2)]), [], [:], "'k' appears twice in 'set'"),
            ([:], [], ["token": ""], "A token has 1 to 255 bytes"),
            ([:], [], ["token": 1], "The option 'token' must be a string (s)."),
            ([:], [], ["durable": 1], "The option 'durable' must be a boolean (b)."),
            ([:], [], ["list-locked": 1], "The option 'list-locked' must be a boolean (b)."),
            (
                [:], [], ["unchanged-since": 1],
                "The option 'unchanged-since' must be a generation (t)."
            ),
            ([:], [], ["quick": true], "There is no option 'quick'."),
            (
                [:], [], .variants([("durable", true), ("durable", true)]),
                "The option 'durable' is given twice."
            ),
        ]
        try await withCaller { caller, _ in
            for (set, removed, options, words) in cases {
                let refused = try await refusal {
                    try await caller.ask(
                        "ApplyValues",
                        [.string(app), set, .strings(removed), .generations(), options])
                }
                #expect(refused?.code == .invalidArguments, "\(words)")
                #expect(refused?.message.contains(words) == true, "\(words)")
                #expect(try await caller.generation() == 1)
            }
        }
    }

    @Test func `A key twice in set or in expected is InvalidArgs, too`() async throws {
        try await withCaller { caller, _ in
            let archive = Tree.archive("a")
            let cases: [(set: Value, expected: Value, list: String)] = [
                (.archives([("k", archive), ("k", archive)]), .generations(), "set"),
                (.archives(), .generations([("k", 1), ("k", 2)]), "expected"),
            ]
            for (set, expected, list) in cases {
                let refused = try await refusal {
                    try await caller.ask(
                        "Apply", [.string("a.b"), set, .strings([]), expected, [:]])
                }
                #expect(refused?.code == .invalidArguments)
                #expect(refused?.message.contains("'k' appears twice in '\(list)'") == true)
            }
        }
    }

    @Test func `GetTimes has the last change of keys, also of removed ones and after a kill`()
        async throws
    {
        try await withCaller { caller, service in
            service.date.seconds = 1000
            try await caller.apply(app, ["a": 1, "b": 1])
            await service.advance(by: .milliseconds(250))
            service.date.seconds = 2000
            try await caller.apply(app, ["c": 1], removing: ["b"])
            try await service.inEachProcess { caller in
                let rows = try await caller.call(
                    Contract.GetTimes.self, (domain: app, keys: ["c", "b", "absent", "a"]))
                #expect(rows.map(\.key) == ["c", "b", "a"])
                #expect(rows.map(\.generation) == [3, 3, 2])
                // What is not on disk yet has the present time.
                #expect(rows.map(\.time) == [2000, 2000, 1000])
            }
            let next = try await service.caller()
            let none = try await next.call(
                Contract.GetTimes.self, (domain: "org.example.None", keys: ["a"]))
            #expect(none.isEmpty)
            let refused = try await refusal {
                try await next.call(Contract.GetTimes.self, (domain: app, keys: [""]))
            }
            #expect(refused?.code == .invalidKey)
        }
    }
}
