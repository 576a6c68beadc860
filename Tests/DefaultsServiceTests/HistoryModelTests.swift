import DBus
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import TestSupport
import Testing

@testable import ServiceHarness

/// Random changes of two programs, undo, redo, kills and failures of the disk, in a service and in a model of
/// its history.
@Suite struct HistoryModelTests {
    private static let steps = 120

    @Test(arguments: 0..<8)
    func `The history has what the model has`(sequence: Int) async throws {
        let numbers = SeededGenerator(case: sequence)
        try await withService { service in
            var run = try await HistoryRun(of: service, HistoryModel(), numbers)
            let difference = try await run.firstDifference(in: Self.steps)
            #expect(difference == nil)
        }
    }

    @Test(arguments: 0..<4)
    func `Undo goes back to the beginning, however changes came about`(sequence: Int) async throws {
        let numbers = SeededGenerator(case: sequence)
        try await withService { service in
            // Undo passes over answers, and what they have changed stays.
            var run = try await HistoryRun(of: service, HistoryModel(), numbers, hasAnswers: false)
            let difference = try await run.firstDifference(in: Self.steps)
            #expect(difference == nil)
            let left = try await run.undoAll()
            #expect(left == nil)
        }
    }

    @Test(arguments: HistoryModel.Fault.allCases)
    func `A model that is wrong about one rule is found out`(fault: HistoryModel.Fault) async throws
    {
        var isFound = false
        for sequence in 0..<8 where !isFound {
            let numbers = SeededGenerator(case: sequence)
            let service = try await TestService.start()
            var run = try await HistoryRun(of: service, HistoryModel(fault), numbers)
            isFound = try await run.firstDifference(in: Self.steps) != nil
            try await service.end()
        }
        #expect(isFound)
    }
}

/// One sequence of steps.
private struct HistoryRun {
    private static let domain = "org.example.App"
    private static let keys = ["a", "b", "c", "d"]

    private let service: TestService
    /// Whether programs change something at once after an undo.
    private let hasAnswers: Bool
    private var model: HistoryModel
    private var numbers: SeededGenerator
    /// The programs that make changes: two connections.
    private var callers: [TestCaller] = []
    /// How many processes there were: the connections of each are its own.
    private var life = 0
    private var time = Duration.zero
    private var refusal: TestDisk.Refusal?
    private var steps: [String] = []

    init(
        of service: TestService, _ model: HistoryModel, _ numbers: SeededGenerator,
        hasAnswers: Bool = true
    ) async throws {
        self.hasAnswers = hasAnswers
        (self.service, self.model, self.numbers) = (service, model, numbers)
        callers = [try await service.caller(), try await service.caller()]
    }

    /// Makes steps until the history and the model differ.
    ///
    /// - Returns: The last steps, and what differs; nil if nothing does.
    mutating func firstDifference(in count: Int) async throws -> String? {
        for _ in 0..<count {
            if let difference = try await step() { return described(difference) }
        }
        try await endRefusal()
        return try await difference().map { described($0) }
    }

    /// Takes everything back.
    ///
    /// - Returns: What is left; nil if nothing is.
    mutating func undoAll() async throws -> String? {
        while let next = model.undo() {
            guard next.holds else { return described("\(next.action) is not to be taken back") }
            if let difference = try await takeBack(next) { return described(difference) }
        }
        let left = model.live.filter { $0.value.value != nil }
        return left.isEmpty ? nil : described("\(left.keys.sorted()) are left")
    }

    private func described(_ difference: String) -> String {
        steps.suffix(12).joined(separator: "; ") + ": " + difference
    }

    private mutating func step() async throws -> String? {
        await pass([100, 300, 1000, 1900, 2500, 30_000].randomElement(using: &numbers) ?? 0)
        switch Int.random(in: 0..<100, using: &numbers) {
        case ..<60: return try await change()
        case ..<62: return try await drag()
        case ..<68:
            try await endRefusal()
            return try await difference()
        case ..<79:
            try await endRefusal()
            guard let next = model.undo() else { return nil }
            return try await takeBack(next)
        case ..<87:
            try await endRefusal()
            guard let next = model.redo() else { return nil }
            return try await takeBack(next)
        case ..<91:
            guard refusal == nil else { return nil }
            steps.append("the disk refuses")
            refusal = try await service.disk.refuse()
        case ..<95: try await endRefusal()
        default: try await restart()
        }
        return nil
    }

    private mutating func pass(_ milliseconds: Int) async {
        time += .milliseconds(milliseconds)
        await service.advance(by: .milliseconds(milliseconds))
    }

    private mutating func endRefusal() async throws {
        guard let refusal else { return }
        steps.append("the disk works")
        try refusal.end()
        self.refusal = nil
    }

    private mutating func restart() async throws {
        let isKill = refusal != nil || Bool.random(using: &numbers)
        steps.append(isKill ? "kill" : "restart")
        try refusal?.end()
        refusal = nil
        try await service.restart(isKill ? .dropped : .orderly)
        life += 1
        model.restart()
        callers = [try await service.caller(), try await service.caller()]
    }

    // MARK: Changes

    private mutating func change() async throws -> String? {
        let author = Int.random(in: 0..<2, using: &numbers)
        var set: [String: Int?] = [:]
        for key in Self.keys.shuffled(using: &numbers)
            .prefix(Int.random(in: 1...3, using: &numbers))
        {
            let value = Int.random(in: 0...3, using: &numbers)
            set[key] = .some(value == 0 ? nil : value)
        }
        let effect = model.effect(of: set)
        steps.append("\(author) sets \(set.map { "\($0)=\($1 ?? 0)" }.sorted())")
        let generation = try await callers[author].call(
            Contract.ApplyValues.self,
            TransactionArguments(
                domain: Self.domain,
                set: set.compactMap { key, value in value.map { (key, .int64(Int64($0))) } },
                removed: set.filter { $0.value == nil }.map(\.key)))
        guard !effect.isEmpty else { return nil }
        model.change(effect, by: "\(author) \(life)", at: time, Int(generation))
        return nil
    }

    /// One program changes a key again and again, for longer than an action may take.
    private mutating func drag() async throws -> String? {
        steps.append("drag")
        for value in 10..<50 {
            let set: [String: Int?] = ["a": value]
            let effect = model.effect(of: set)
            let generation = try await callers[0].call(
                Contract.SetValue.self, (Self.domain, "a", .int64(Int64(value))))
            model.change(effect, by: "0 \(life)", at: time, Int(generation))
            await pass(1800)
        }
        return nil
    }

    /// Takes an action back, or does it again, in the service and in the model.
    private mutating func takeBack(_ next: HistoryModel.TakingBack) async throws -> String? {
        steps.append("\(next.kind) \(next.action)")
        let (actions, _) = try await callers[0].call(Contract.ListActions.self, HistoryFilter())
        guard let action = actions.first(where: { Int($0.first) == next.action }) else {
            return "there is no action \(next.action)"
        }
        let arguments = TakingBackArguments(actions: [(action.number, action.last)])
        do {
            let (generation, changes) =
                next.kind == "undo"
                ? try await callers[0].call(Contract.Undo.self, arguments)
                : try await callers[0].call(Contract.Redo.self, arguments)
            guard next.holds else { return "\(next.kind) \(next.action) overwrites newer changes" }
            guard Set(changes.map(\.key)) == next.keys else {
                return "\(next.kind) \(next.action) concerns \(changes.map(\.key))"
            }
            model.change(
                next.set, by: "0 \(life)", at: time, Int(generation), kind: next.kind,
                origins: next.origins, reference: next.action)
            if !hasAnswers { await pass(1000) }
            return nil
        } catch let error as ContractError where error.code == .conflict {
            return next.holds ? "\(next.kind) \(next.action): \(error)" : nil
        }
    }

    // MARK: Comparing

    private mutating func difference() async throws -> String? {
        steps.append("compare")
        let (actions, _) = try await callers[0].call(Contract.ListActions.self, HistoryFilter())
        guard Set(actions.map { Int($0.first) }) == Set(model.actions.keys) else {
            return "the actions are \(actions.map(\.first)), not \(model.actions.keys.sorted())"
        }
        for action in actions {
            if let difference = try await difference(of: action) { return difference }
        }
        return try await differenceOfValues()
    }

    private func difference(of action: HistoryActionForm) async throws -> String? {
        let number = Int(action.first)
        guard let expected = model.actions[number] else { return nil }
        let own = model.rows.filter { $0.action == number }
        let hasEffect = own.contains { !$0.isVoid }
        if action.kind != expected.kind { return "\(number) is \(action.kind)" }
        if hasEffect, !expected.isPartly, expected.kind != "redo",
            action.isUndone != (expected.undone != nil)
        {
            return "\(number) is undone: \(action.isUndone)"
        }
        let (_, changes) = try await callers[0].call(Contract.GetAction.self, action.number)
        let found = try changes.map { change in
            "\(change.key) \(change.first)-\(change.last) \(try value(of: change.was).map { "\($0)" } ?? "none") \(change.standing == "void")"
        }
        let meant = own.map { row in
            "\(row.key) \(row.first)-\(row.last) \(row.was.map { "\($0)" } ?? "none") \(row.isVoid)"
        }
        guard found.sorted() == meant.sorted() else {
            return "\(number) has \(found.sorted()), not \(meant.sorted())"
        }
        return nil
    }

    /// Compares what is known of each key at each generation with what it really had, and with the model.
    private func differenceOfValues() async throws -> String? {
        let last = model.live.values.map(\.generation).max() ?? 1
        let generations = Set(
            model.truth.values.joined().flatMap { [$0.generation, $0.generation - 1] })
        for generation in generations.sorted() where 2...last ~= generation {
            let reply = try await callers[0].call(
                Contract.GetAt.self, (Self.domain, Self.keys, UInt64(generation), 0))
            for (key, found) in reply.values {
                let isKnown = found.knowledge != .unknown
                let meant = model.value(of: key, at: generation)
                if isKnown, try value(of: found) != model.truth(of: key, at: generation) {
                    return "\(key) had not \(found.knowledge) at \(generation)"
                }
                if let meant, try !isKnown || value(of: found) != meant {
                    return "\(key) at \(generation) is \(found.knowledge), not \(meant ?? 0)"
                }
                if meant == nil, isKnown { return "\(key) at \(generation) is known" }
            }
        }
        return nil
    }

    private func value(of form: HistoryValueForm) throws -> Int? {
        guard form.knowledge == .present else { return nil }
        guard
            case .int64(let number) = try VariantForm.value(
                of: KeyedArchive(validating: form.archive))
        else { return nil }
        return Int(number)
    }
}
