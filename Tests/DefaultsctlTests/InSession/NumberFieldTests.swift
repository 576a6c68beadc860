import TestSupport
import Testing

@testable import ToolHarness

/// Dates whose seconds are an integer, as some archivers write them, are read as all other dates.
@Suite(.inSession) struct NumberFieldTests {
    private let session = TestSession.current
    private static let (whole, exact) = ("org.example.Whole", "org.example.Exact")

    /// Two domains with the same dates: the seconds are integers in the first, and reals in the second.
    init() async throws {
        for (domain, seconds) in [(Self.whole, "86400"), (Self.exact, "86400.0")] {
            let date = #"{"$class":"NSDate","NS.time":\#(seconds)}"#
            let file = try session.directory.write(
                #"{"Alone":\#(date),"Inside":{"due":[\#(date)]}}"#, to: "\(domain).json")
            try await session.tool("import", domain, file).requireOutput()
        }
    }

    @Test(arguments: [
        ["read"], ["read", "Alone"], ["read-type", "Alone"], ["read", "Inside"],
        ["read", "Inside", "--path", "due[0]"], ["export", "-"],
        ["export", "-", "--format", "xml"],
    ])
    func `The tool shows both alike`(words: [String]) async throws {
        var answers: [String] = []
        for domain in [Self.whole, Self.exact] {
            answers += [
                try await session.tool([words[0], domain] + words.dropFirst()).requireOutput()
            ]
        }
        #expect(answers[0] == answers[1])
    }

    @Test func `The tool finds both by their day`() async {
        let found = await session.tool("find", "2001-01-02")
        for domain in [Self.whole, Self.exact] {
            #expect(found.output.contains(domain), "\(found)")
        }
    }
}
