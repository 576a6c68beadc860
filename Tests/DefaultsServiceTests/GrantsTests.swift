import DBus
import DefaultsProtocol
import DefaultsTerms
import Testing

@testable import ServiceHarness

/// What is granted to an application in a sandbox.
@Suite struct GrantsTests {
    private let app = "org.example.App"
    private let other = "org.example.Application"

    /// Starts a service with an application, and with a value of another one.
    private func withApplication(
        _ body: (_ application: TestCaller, _ caller: TestCaller, TestService) async throws -> Void
    ) async throws {
        try await withCaller { caller, service in
            try await caller.set(other, "Key", 5)
            try await body(service.caller(.application(app)), caller, service)
        }
    }

    private func grant(
        _ caller: TestCaller, reading: [String] = [], writing: [String] = []
    ) async throws {
        try await caller.set(
            GrantTerms.domain, app,
            ["read": .strings(reading), "write": .strings(writing)])
    }

    private func expectMayRead(
        _ application: TestCaller, _ mayRead: Bool = true, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refused = try await refusal {
            let value = try await application.get(other, "Key").value
            #expect(value == 5, comment, sourceLocation: sourceLocation)
        }
        #expect(
            refused?.code == (mayRead ? nil : .notFound), comment, sourceLocation: sourceLocation)
    }

    private func expectMayWrite(
        _ application: TestCaller, _ mayWrite: Bool = true, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refused = try await refusal { try await application.set(other, "Key", 5) }
        #expect(
            refused?.code == (mayWrite ? nil : .accessDenied), comment,
            sourceLocation: sourceLocation)
    }

    @Test func `The administrator's grant is above the user's, and an app cannot grant anything`()
        async throws
    {
        try await withApplication { application, caller, service in
            try await grant(caller, writing: ["*"])
            try await expectMayWrite(application)
            let own = try await refusal {
                try await application.set(
                    GrantTerms.domain, "org.example.Evil", ["write": ["*"]])
            }
            #expect(own?.code == .accessDenied)
            try await service.administer(
                "managed/\(GrantTerms.domain).json", #"{"\#(app)": {"read": ["\#(other)"]}}"#)
            try await expectMayWrite(application, false)
            try await expectMayRead(application)
            let locked = try await refusal { try await grant(caller, writing: [other]) }
            #expect(locked?.code == .locked)
            #expect(
                try await caller.lookUp(GrantTerms.domain, app)
                    == (["read": [.string(other)]], "managed"))
        }
    }

    @Test func `A grant that is none grants nothing, and the log says once what was refused`()
        async throws
    {
        try await withApplication { application, caller, service in
            let grants: [Value] = [
                5, ["read": 5, "write": [7, "a..b", "org..*", ""]], ["*"],
            ]
            for grant in grants {
                try await caller.set(GrantTerms.domain, app, grant)
                let comment = Comment(rawValue: "\(grant)")
                try await expectMayRead(application, false, comment)
                try await expectMayWrite(application, false, comment)
            }
            let lines = service.log(containing: "'defaultsctl grant'")
            #expect(lines.count == 2, "\(lines)")
            for method in ["GetValue", "SetValue"] {
                let words = "\(app) has called \(method) for the domain \(other)"
                #expect(lines.contains { $0.contains(words) }, "\(lines)")
            }
        }
    }
}
