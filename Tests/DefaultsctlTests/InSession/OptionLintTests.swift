import DefaultsFiles
import DefaultsTerms
import TestSupport
import Testing

@testable import ToolHarness

/// What `lint` says of a file that sets options of the service.
@Suite(.inSession) struct OptionLintTests {
    let session = TestSession.current

    private func lint(_ text: String) async throws -> ProgramResult {
        let file = "\(ServiceOption.domain).json"
        try await session.write(text, to: file, in: .managed)
        return await session.tool("lint", session.path(of: file, in: .managed))
    }

    @Test func `Options within their bounds are accepted in silence`() async throws {
        for option in ServiceOption.allCases {
            for value in [option.bounds.lowerBound, option.standard, option.bounds.upperBound] {
                let result = try await lint(#"{"\#(option.rawValue)": \#(value)}"#)
                #expect(result.status == 0 && result.output.isEmpty, "\(result)")
            }
        }
    }

    @Test(arguments: ["10001", "-1", "\"250\"", "true", "0.5", "[]"])
    func `A value that the service ignores is a warning with the bounds`(value: String)
        async throws
    {
        let result = try await lint(#"{"WriteDelay": \#(value)}"#)
        #expect(
            result.output.hasSuffix(
                "warning: WriteDelay is ignored: it must be a whole number from 0 to 10000.\n"))
    }

    @Test func `A name that the service does not know is a warning with the one that was meant`()
        async throws
    {
        let result = try await lint(#"{"WriteDelays": 10}"#)
        #expect(
            result.output.hasSuffix(
                "no option 'WriteDelays', and ignores it. Did you mean WriteDelay?\n"))
        #expect(try await lint(#"{"Something": 10}"#).output.hasSuffix("ignores it.\n"))
    }
}
