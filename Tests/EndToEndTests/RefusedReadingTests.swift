import TestSupport
import TestTiers
import Testing

/// A service that has no room for the answers to a program, for a while or for good.
///
/// The program must not take that for settings that nobody has set.
@Suite(.startsPrograms) struct RefusedReadingTests {
    private static let app = "org.example.App"

    @Test func `A program to which a whole domain is refused reads it in parts`() async throws {
        let desktop = try Desktop()
        let service = try await RefusingService(on: desktop, refusing: 0)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        #expect(try client.ask("try-get Key") == "77")
        #expect(try client.ask("state") == "following")
        #expect(try client.end() == 0)
        withExtendedLifetime(service) {}
    }

    @Test func `A program to which everything is refused for a while waits, and reads no default`()
        async throws
    {
        let desktop = try Desktop()
        let service = try await RefusingService(on: desktop, refusing: 12)
        let client = try ClientProcess(talkingOf: Self.app, in: desktop)
        #expect(try client.ask("get Key") == "77")
        #expect(try client.ask("state") == "following")
        #expect(try client.end() == 0)
        withExtendedLifetime(service) {}
    }
}
