import Testing

@testable import ServiceHarness

/// Each test of the suite has a session, which ends in order after the test.
struct InSession: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let session = try await TestSession()
        try await TestSession.$running.withValue(session) { try await function() }
        try await session.service.end()
    }
}

extension Trait where Self == InSession {
    /// Each test of the suite has a session of its own: see ``TestSession``.
    static var inSession: Self { Self() }
}
