import DBus
import DefaultsProtocol
import DefaultsTerms
import Glibc
import Testing

@testable import DefaultsService
@testable import ServiceHarness

/// Who hears of a change, whatever comes first: the match rule, the change, the end of a grant, or what the
/// bus says about who listens and who that is.
@Suite struct ListenerRightsTests {
    /// What happens, in any order.
    private enum Step: CaseIterable {
        /// The application connects and adds its match rule.
        case listen
        case change
        case revoke
        /// The bus begins to say who listens.
        case tellListeners
        /// The bus begins to say who connections are.
        case tellIdentities
    }

    /// How the bus is.
    private struct Bus: CustomTestStringConvertible {
        let showsRules: Bool
        let answersLate: Bool

        var testDescription: String {
            "\(showsRules ? "rules" : "names") as \(answersLate ? "answered" : "asked")"
        }

        static let all = [true, false].flatMap { rules in
            [true, false].map { Bus(showsRules: rules, answersLate: $0) }
        }
    }

    private static let (application, program, stranger) = (":1.5", ":1.6", ":1.7")
    private static let own = "snap.boxed"
    private static let (granted, other) = ("org.example.Granted", "org.example.Other")
    private static let rule = "type='signal',interface='org.defaultsd.Defaults1'"

    private static let box = TestBus.Client(user: geteuid(), label: "snap.boxed.app")

    /// All orders of some things.
    private static func orders<Element>(of elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    private func grant(_ patterns: [String], by caller: TestCaller) async throws {
        let list = Value.array(of: "s", patterns.map { .string($0) })
        try await caller.set(
            GrantTerms.domain, Self.own,
            .dictionary(
                key: "s", value: "v",
                [Value.Entry(.string(GrantTerms.Access.read.rawValue), .variant(list))]))
    }

    /// A service whose bus has a program of the user that listens.
    private func service(
        on bus: Bus = Bus(showsRules: true, answersLate: true), serving desktops: Bool = false
    ) async throws -> ServiceOnBus {
        let service = try await ServiceOnBus.start(
            showingRules: bus.showsRules, answeringLate: bus.answersLate,
            serving: desktops ? [XfconfDoor.self] : [])
        await service.bus.connect(Self.program, .init(user: geteuid(), rules: [Self.rule]))
        return service
    }

    private func take(_ step: Step, in service: ServiceOnBus) async throws {
        switch step {
        case .listen:
            await service.bus.connect(Self.application, Self.box)
            await service.bus.add(Self.rule, of: Self.application)
        case .change:
            for domain in [Self.other, Self.own, Self.granted, "NSGlobalDomain"] {
                try await service.caller.set(domain, "Key", .int64(1))
            }
        case .revoke: try await grant([], by: service.caller)
        case .tellListeners: try await service.bus.release(.listeners)
        case .tellIdentities: try await service.bus.release(.identities)
        }
        await service.settle()
        await service.bus.noteStep()
    }

    @Test(arguments: Bus.all)
    private func `Each listener hears what it may read when it is sent, in every order`(bus: Bus)
        async throws
    {
        for order in Self.orders(of: Step.allCases) {
            let service = try await service(on: bus)
            // It is known before, so that only what follows is about it.
            try await grant([Self.granted], by: service.caller)
            for question in TestBus.Question.allCases { await service.bus.hold(question) }
            for step in order { try await take(step, in: service) }
            try await check(service, after: order)
            try await service.end()
        }
    }

    private func check(_ service: ServiceOnBus, after order: [Step]) async throws {
        let comment = Comment(rawValue: "\(order)")
        let heard = await service.bus.heard(by: Self.application)
        let subjects = heard.map(\.subject)
        #expect(!subjects.contains(Self.other), comment)
        #expect(!subjects.contains(GrantTerms.domain), comment)
        let end = try #require(order.firstIndex(of: .revoke))
        let granted = heard.filter { $0.subject == Self.granted }
        #expect(granted.allSatisfy { $0.steps < end }, comment)
        // Everything was there before the change, and the grant ended after it.
        let isHeard = order[3] == .change && order[4] == .revoke
        #expect(granted.count == 1 || !isHeard && granted.isEmpty, comment)
        let (rule, change) = (order.firstIndex(of: .listen), order.firstIndex(of: .change))
        for domain in [Self.own, "NSGlobalDomain"] {
            let count = subjects.count(where: { $0 == domain })
            #expect(count == 1 || count == 0 && rule ?? 0 > change ?? 0, comment)
        }
        let all = await service.bus.heard(by: Self.program).map(\.subject)
        for domain in [Self.other, Self.own, Self.granted, "NSGlobalDomain"] {
            #expect(all.count(where: { $0 == domain }) == 1, comment)
        }
    }

    @Test(arguments: [true, false])
    func `A program of another user that has come to the bus hears nothing`(showsRules: Bool)
        async throws
    {
        let service = try await service(on: Bus(showsRules: showsRules, answersLate: true))
        await service.bus.connect(Self.stranger, .init(user: geteuid() + 1, rules: [Self.rule]))
        for domain in [Self.other, "NSGlobalDomain"] {
            try await service.caller.set(domain, "Key", .int64(1))
        }
        #expect(await service.bus.heard(by: Self.program).count == 2)
        #expect(await service.bus.heard(by: Self.stranger).isEmpty)
        try await service.end()
    }

    @Test func `A change from before the rule may be heard, but only of a domain that may be read`()
        async throws
    {
        let service = try await service()
        await service.bus.hold(.listeners)
        // The bus has been asked about this one.
        try await service.caller.set("org.example.First", "Key", .int64(1))
        for domain in [Self.other, Self.own] {
            try await service.caller.set(domain, "Key", .int64(1))
        }
        try await take(.listen, in: service)
        try await take(.tellListeners, in: service)
        #expect(await service.bus.heard(by: Self.application).map(\.subject) == [Self.own])
        try await service.end()
    }

    @Test func `What waits to be written when a grant ends is not sent to whom it was granted`()
        async throws
    {
        let service = try await service(serving: true)
        let rule = "type='signal',interface='org.xfce.Xfconf'"
        await service.bus.connect(Self.application, Self.box)
        for name in [Self.application, Self.program] { await service.bus.add(rule, of: name) }
        try await grant(["xfconf.*"], by: service.caller)
        let before = await service.bus.heard(by: Self.application).count
        await service.bus.hold(.listeners)
        let values = (0..<3000).map {
            (key: "/key\($0)", value: Value.string(String(repeating: "x", count: 500)))
        }
        try await service.caller.call(
            Contract.ApplyValues.self, .init(domain: "xfconf.panel", set: values))
        // The service knows who listens, and cannot write all that it has for them.
        try await service.bus.release(.listeners, andPause: true)
        await service.settle()
        try await grant([], by: service.caller)
        await service.bus.goOn()
        await service.settle()
        let heard = await service.bus.heard(by: Self.application).count - before
        let all = await service.bus.heard(by: Self.program).filter { $0.subject == "panel" }.count
        #expect(all == values.count)
        // The signals of the one turn of the loop before it: 1000, to two receivers.
        #expect(heard == 500)
        try await service.end()
    }
}
