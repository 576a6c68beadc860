import DBus
import DefaultsProtocol
import TestSupport
import Testing

@testable import ServiceHarness

/// Random calls, kills and failures of the disk, in a service and in a model of it.
///
/// After each step both must have the same values with the same generations.
@Suite struct ModelTests {
    private static let steps = 250

    @Test(arguments: 0..<6)
    func `A service has what the model has, after every step`(sequence: Int) async throws {
        let numbers = SeededGenerator(case: sequence)
        try await withService { service in
            var run = try await ModelRun(of: service, ServiceModel(), numbers)
            let difference = try await run.firstDifference(in: Self.steps)
            #expect(difference == nil)
        }
    }

    @Test(arguments: ServiceModel.Fault.allCases)
    func `A model that is wrong about one rule is found out`(fault: ServiceModel.Fault)
        async throws
    {
        var isFound = false
        for sequence in 0..<6 where !isFound {
            let numbers = SeededGenerator(case: sequence)
            let service = try await TestService.start()
            var run = try await ModelRun(of: service, ServiceModel(fault), numbers)
            isFound = try await run.firstDifference(in: Self.steps) != nil
            try await service.end()
        }
        #expect(isFound)
    }
}

/// One sequence of steps.
private struct ModelRun {
    private static let domains = ["org.example.A", "org.example.B"]
    private static let keys = ["a", "b", "c"]

    private let service: TestService
    private var model: ServiceModel
    private var numbers: SeededGenerator
    private var caller: TestCaller
    /// The transactions that were made.
    private var tokens: [(token: String, domain: String)] = []
    private var newest: UInt64 = 0
    /// A disk that refuses everything.
    private var refusal: TestDisk.Refusal?
    private var steps: [String] = []

    init(of service: TestService, _ model: ServiceModel, _ numbers: SeededGenerator) async throws {
        self.service = service
        self.model = model
        self.numbers = numbers
        caller = try await service.caller()
        newest = try await generation()
    }

    /// The generation of the service.
    private func generation() async throws -> UInt64 {
        try await caller.call(Contract.GetProperties.self, ()).uint64(Contract.currentGeneration)
    }

    /// Makes steps until the service and the model differ.
    ///
    /// - Returns: The last steps, and what differs; nil if nothing does.
    mutating func firstDifference(in count: Int) async throws -> String? {
        for _ in 0..<count {
            if let difference = try await step() {
                try refusal?.end()
                return steps.suffix(6).joined(separator: "; ") + ": " + difference
            }
        }
        try refusal?.end()
        refusal = nil
        return try await difference()
    }

    private mutating func step() async throws -> String? {
        switch Int.random(in: 0..<100, using: &numbers) {
        case ..<55: if let difference = try await transact() { return difference }
        case ..<65: if let difference = try await rename() { return difference }
        case ..<70: if let difference = try await removeDomain() { return difference }
        case ..<80:
            note("time")
            await service.advance(by: .milliseconds(Int.random(in: 1...3000, using: &numbers)))
        case ..<84:
            if try await synchronize() { model.noteOnDisk() }
        case ..<88:
            guard refusal == nil else { break }
            note("the disk refuses")
            refusal = try await service.disk.refuse()
        case ..<93:
            note("the disk works")
            try refusal?.end()
            refusal = nil
        case ..<95:
            note("damage")
            try await service.disk.claimDamage()
        default: try await restart()
        }
        // A repair and a new process go on with larger numbers.
        let former = newest
        newest = try await generation()
        if newest < former { return "The generation is \(newest) after \(former)" }
        return try await difference()
    }

    private mutating func note(_ step: String) { steps.append(step) }

    // MARK: Changes

    private mutating func transact() async throws -> String? {
        if let (token, domain) = tokens.randomElement(using: &numbers),
            Int.random(in: 0..<6, using: &numbers) == 0
        {
            return try await transact(domain, set: ["a": 99], removed: [], [:], token)
        }
        let domain = Self.domains.randomElement(using: &numbers) ?? ""
        var (set, removed, expected) = ([String: Int64](), [String](), [String: UInt64]())
        for key in Self.keys {
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0, 1: set[key] = Int64.random(in: 0..<3, using: &numbers)
            case 2: removed.append(key)
            default: break
            }
            if Int.random(in: 0..<5, using: &numbers) == 0 {
                let isRight = Bool.random(using: &numbers)
                expected[key] = (model[domain, key]?.generation ?? 0) + (isRight ? 0 : 1)
            }
        }
        let hasToken = Int.random(in: 0..<3, using: &numbers) == 0
        let token = hasToken ? "token\(tokens.count)" : nil
        return try await transact(domain, set: set, removed: removed, expected, token)
    }

    private mutating func transact(
        _ domain: String, set: [String: Int64], removed: [String], _ expected: [String: UInt64],
        _ token: String?
    ) async throws -> String? {
        note("apply \(domain) \(set) -\(removed) if \(expected) \(token ?? "")")
        let effect = model.effect(
            of: domain, set: set, removed: removed, expected: expected, token: token)
        let reply = try await answer(
            Contract.ApplyValues.self,
            TransactionArguments(
                domain: domain, set: set.map { ($0.key, .int64($0.value)) }, removed: removed,
                expected: expected.map { ($0.key, $0.value) }, options: .init(token: token)))
        if let token, let reply, !tokens.contains(where: { $0.token == token }) {
            tokens.append((token, domain))
            model.remember(token, at: reply)
        }
        return compare(reply, with: effect) {
            $0.make(domain, set: set, removed: removed, at: $1)
        }
    }

    private mutating func rename() async throws -> String? {
        let domain = Self.domains.randomElement(using: &numbers) ?? ""
        let (old, new) = ("a", Bool.random(using: &numbers) ? "b" : "c")
        note("rename \(domain) \(old) \(new)")
        let effect = model.effect(ofRenaming: old, to: new, in: domain)
        let value = model[domain, old]?.value ?? 0
        let reply = try await answer(
            Contract.Rename.self, (domain: domain, old: old, new: new))
        return compare(reply, with: effect) {
            $0.make(domain, set: [new: value], removed: [old], at: $1)
        }
    }

    private mutating func removeDomain() async throws -> String? {
        let domain = Self.domains.randomElement(using: &numbers) ?? ""
        note("remove \(domain)")
        let keys = model.domains[domain].map { Array($0.keys) } ?? []
        let reply = try await answer(Contract.RemoveDomain.self, domain)
        return compare(reply, with: keys.isEmpty ? .nothing : .made) {
            $0.make(domain, set: [:], removed: keys, at: $1)
        }
    }

    /// Makes a call that the service answers or refuses; nil if it refuses.
    private func answer<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments
    ) async throws -> UInt64? where C.Reply == UInt64 {
        do {
            return try await caller.call(call, arguments)
        } catch is ContractError {
            return nil
        }
    }

    /// Compares a reply with what the model says, and has the model make the change.
    private mutating func compare(
        _ reply: UInt64?, with effect: ServiceModel.Effect,
        _ make: (inout ServiceModel, UInt64) -> Void
    ) -> String? {
        switch (effect, reply) {
        case (.refused, nil): return nil
        case (.nothing, let generation?) where generation == newest: return nil
        case (.repeated(let former), let generation?) where generation == former: return nil
        case (.made, let generation?) where generation > newest:
            newest = generation
            make(&model, generation)
            return nil
        default: return "\(effect), and the reply is \(reply.map { "\($0)" } ?? "an error")"
        }
    }

    // MARK: The disk and the end

    /// - Returns: Whether everything is on disk.
    private mutating func synchronize() async throws -> Bool {
        note("synchronize")
        do {
            try await caller.call(Contract.Synchronize.self, ())
            return true
        } catch is ContractError {
            return false
        }
    }

    private mutating func restart() async throws {
        let isKill = refusal != nil || Bool.random(using: &numbers)
        note(isKill ? "kill" : "restart")
        try refusal?.end()
        refusal = nil
        try await service.restart(isKill ? .dropped : .orderly)
        if isKill { model.noteKill() } else { model.noteOnDisk() }
        caller = try await service.caller()
    }

    // MARK: What is there

    private func difference() async throws -> String? {
        for domain in Self.domains {
            let (values, _, _) = try await caller.call(Contract.GetAllValues.self, domain)
            let model = model.domains[domain] ?? [:]
            guard Set(values.map(\.0)) == Set(model.keys) else {
                return "\(domain) has \(values), and the model \(model)"
            }
            for (key, entry) in model {
                let (value, generation) = try await caller.get(domain, key)
                guard value == .int64(entry.value), generation == entry.generation else {
                    return "\(domain) \(key): \(value) at \(generation), and in the model \(entry)"
                }
            }
        }
        return nil
    }
}
