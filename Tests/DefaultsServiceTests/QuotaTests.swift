import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// Bounds of what programs may store: what they refuse, and that everything else goes on.
@Suite struct QuotaTests {
    private let app = "org.example.App"
    private let other = "org.example.Other"

    /// Lets the administrator set bounds.
    private func bound(_ bounds: String, in service: TestService) async throws {
        try await service.administer("managed/\(QuotaTerms.domain).json", bounds)
    }

    private func write(_ domain: String, _ key: String, _ length: Int, _ caller: TestCaller)
        async throws
    {
        try await caller.set(domain, key, .text(of: length))
    }

    private func expectRefusal<Reply>(
        by bound: QuotaTerms.Bound, sourceLocation: SourceLocation = #_sourceLocation,
        of call: () async throws -> Reply
    ) async throws {
        let refused = try await refusal(of: call)
        #expect(refused?.code == .limitsExceeded, sourceLocation: sourceLocation)
        for words in ["(\(bound.rawValue))", "Nothing was changed."] {
            #expect(refused?.message.contains(words) == true, sourceLocation: sourceLocation)
        }
    }

    @Test func `A domain has no more keys and bytes than it may, and others are not affected`()
        async throws
    {
        try await withCaller { caller, service in
            try await bound(
                #"{"*": {"DomainKeys": 3}, "\#(app)": {"DomainKeys": 2, "DomainBytes": 4000}}"#,
                in: service)
            for key in ["a", "b"] { try await write(app, key, 1, caller) }
            try await expectRefusal(by: .domainKeys) { try await write(app, "c", 1, caller) }
            try await expectRefusal(by: .domainBytes) { try await write(app, "b", 5000, caller) }
            #expect(try await caller.get(app, "b").value == "x")
            // The other domain has the bound of all.
            for key in ["a", "b", "c"] { try await write(other, key, 5000, caller) }
            try await expectRefusal(by: .domainKeys) { try await write(other, "d", 1, caller) }
            // Room is made by what is removed.
            try await caller.remove(app, "a")
            try await write(app, "c", 1, caller)
            // A transaction is made whole or not at all.
            try await expectRefusal(by: .domainKeys) {
                try await caller.apply(app, ["c": 1, "d": 1])
            }
            #expect(try await caller.get(app, "c").value == "x")
        }
    }

    @Test func `A bound that is lowered takes nothing away, and one that is raised lets go on`()
        async throws
    {
        try await withCaller { caller, service in
            for key in ["a", "b"] { try await write(app, key, 3000, caller) }
            try await bound(#"{"*": {"DomainBytes": 1000}}"#, in: service)
            #expect(try await caller.keys(app) == ["a", "b"])
            try await expectRefusal(by: .domainBytes) { try await write(app, "a", 4000, caller) }
            try await write(app, "a", 2000, caller)
            try await caller.rename(app, "b", "c")
            try await bound(#"{"*": {"DomainBytes": 100000}}"#, in: service)
            try await write(app, "a", 4000, caller)
            // Anything else is ignored.
            try await bound(
                #"{"*": {"DomainBytes": "none", "DomainKeys": -1, "Other": 0}, "x": 5}"#,
                in: service)
            try await write(app, "a", 120_000, caller)
        }
    }

    @Test func `A change of several domains above a bound changes none of them`() async throws {
        try await withCaller { caller, service in
            for key in ["a", "b", "c"] { try await write(app, key, 1, caller) }
            try await write(other, "a", 1, caller)
            try await bound(#"{"*": {"DomainKeys": 1}}"#, in: service)
            try await expectRefusal(by: .domainKeys) {
                try await caller.applyAll([
                    caller.part(app, removing: ["a"]), caller.part(other, ["b": 1]),
                ])
            }
            #expect(try await caller.keys(app) == ["a", "b", "c"])
        }
    }

    @Test func `The log reports an invalid bound, and the bound can be corrected`() async throws {
        try await withCaller { caller, service in
            func bound(_ name: String, _ bounds: Value) async throws {
                try await caller.set(QuotaTerms.domain, name, bounds)
            }
            for bounds: Value in [["DomainKeys": "1"], ["DomainKeys": 0]] {
                try await bound(QuotaTerms.everybody, bounds)
            }
            try await expectRefusal(by: .domainKeys) { try await write(app, "a", 1, caller) }
            try await bound("x", ["DomainKeys": 1])
            try await bound(QuotaTerms.everybody, ["Keys": "1"])
            try await write(app, "a", 1, caller)
            let words = "The bounds of * in org.defaultsd.Quotas are not all valid"
            #expect(!service.log(containing: words).isEmpty)
        }
    }

    @Test func `All programs together have no more domains than they may`() async throws {
        try await withCaller { caller, service in
            try await bound(#"{"*": {"AllDomains": 3}}"#, in: service)
            for number in 1...3 { try await write("org.example.D\(number)", "k", 1, caller) }
            for domain in ["org.example.D4", "org.example.D1@host"] {
                try await expectRefusal(by: .allDomains) { try await write(domain, "k", 1, caller) }
            }
            try await write("org.example.D3", "other", 1, caller)
            try await caller.removeDomain("org.example.D2")
            try await write("org.example.D4", "k", 1, caller)
        }
    }

    @Test func `A program that sets too much in a minute has to wait, and others do not`()
        async throws
    {
        try await withCaller { caller, service in
            try await bound(#"{"*": {"BytesPerMinute": 100000}}"#, in: service)
            func write(_ mark: Int) async throws {
                let text = "\(mark)" + String(repeating: ".", count: 30_000)
                try await caller.set(app, "Key", .string(text))
            }
            // The clock stands still, so nothing becomes free.
            for number in 0..<3 { try await write(number) }
            let refused = try await refusal { for number in 3..<6 { try await write(number) } }
            #expect(refused?.code == .limitsExceeded)
            #expect(refused?.message.contains("BytesPerMinute") == true)
            #expect(refused?.message.contains("Call again in ") == true)
            try await caller.remove(app, "Key")
            try await service.caller().set(app, "Key", .text(of: 30_000))
            await service.advance(by: .seconds(60))
            try await write(7)
        }
    }

    @Test func `ListQuotas says who is near a bound, and the log says once who was refused`()
        async throws
    {
        try await withCaller { caller, service in
            func near(_ percentage: UInt32) async throws -> [String] {
                try await caller.call(Contract.ListQuotas.self, percentage).map {
                    "\($0.bound) \($0.name) \($0.used) of \($0.limit)"
                }
            }
            #expect(try await near(80).isEmpty)
            try await bound(
                #"{"\#(app)": {"DomainKeys": 4}, "\#(other)": {"DomainKeys": 4}}"#, in: service)
            for key in ["a", "b", "c", "d"] { try await write(app, key, 1, caller) }
            for key in ["a", "b"] { try await write(other, key, 1, caller) }
            #expect(try await near(80) == ["DomainKeys \(app) 4 of 4"])
            #expect(
                try await near(50) == [
                    "DomainKeys \(app) 4 of 4", "DomainKeys \(other) 2 of 4",
                ])
            for _ in 0..<2 {
                try await expectRefusal(by: .domainKeys) { try await write(app, "e", 1, caller) }
            }
            let lines = service.log(containing: "DomainKeys")
            #expect(lines.count == 1 && lines[0].contains("of \(app)"), "\(lines)")
        }
    }
}
