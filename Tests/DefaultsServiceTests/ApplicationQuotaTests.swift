import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// Bounds of an application in a sandbox.
@Suite struct ApplicationQuotaTests {
    private let app = "org.example.App"

    /// Starts a service with bounds of the administrator, and with an application.
    private func withBounds(
        _ bounds: String,
        _ body: (_ application: TestCaller, _ caller: TestCaller, TestService) async throws -> Void
    ) async throws {
        var setup = TestService.Setup()
        setup.layerFiles = ["managed/\(QuotaTerms.domain).json": bounds]
        try await withCaller(setup) { caller, service in
            try await caller.set("org.example.Other", "Key", 5)
            try await body(service.caller(.application(app)), caller, service)
        }
    }

    private func expectRefusal<Reply>(
        by bound: QuotaTerms.Bound, sourceLocation: SourceLocation = #_sourceLocation,
        of call: () async throws -> Reply
    ) async throws {
        let refused = try await refusal(of: call)
        #expect(refused?.code == .limitsExceeded, sourceLocation: sourceLocation)
        let words = "(\(bound.rawValue))"
        #expect(refused?.message.contains(words) == true, sourceLocation: sourceLocation)
    }

    @Test func `The domains of an app are counted together, and those of others are not affected`()
        async throws
    {
        try await withBounds(#"{"\#(app)": {"Domains": 2, "Keys": 3, "Bytes": 4000}}"#) {
            application, caller, service in
            let (helper, third) = ("\(app).Helper", "\(app).Third")
            try await application.set(app, "a", "x")
            try await application.set(helper, "a", "x")
            try await expectRefusal(by: .domains) { try await application.set(third, "a", "x") }
            try await application.set(app, "b", "x")
            try await expectRefusal(by: .keys) { try await application.set(helper, "b", "x") }
            try await expectRefusal(by: .bytes) {
                try await application.set(app, "a", .text(of: 5000))
            }
            // Tokens of domains without keys count, too.
            try await expectRefusal(by: .domains) {
                try await application.apply("\(app).Empty", [:], .init(token: "t"))
            }
            // Programs outside are not bounded by it.
            try await caller.set(third, "a", 5)
            try await caller.set("org.example.Other", "b", 5)
            // The usage is known again after a start.
            try await service.restart(.dropped)
            let next = try await service.caller(.application(app))
            try await expectRefusal(by: .keys) { try await next.set(helper, "b", "x") }
            try await next.removeDomain(third)
            try await next.removeDomain(helper)
            try await next.set(helper, "b", "x")
            let rows = try await service.caller().call(Contract.ListQuotas.self, 100)
            #expect(rows.contains { $0.bound == "Domains" && $0.name == app }, "\(rows)")
        }
    }

    @Test func `An app cannot make the service forget the tokens of others`() async throws {
        try await withBounds(#"{"*": {"Domains": 2}}"#) { application, _, _ in
            for number in 1...2 {
                let domain = "\(app).D\(number)"
                try await application.apply(domain, ["Key": 1], .init(token: "t"))
                try await application.remove(domain, "Key")
            }
            try await expectRefusal(by: .domains) {
                try await application.apply("\(app).D3", ["Key": 1], .init(token: "t"))
            }
        }
    }
}
