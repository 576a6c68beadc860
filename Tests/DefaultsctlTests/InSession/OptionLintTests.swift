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

    @Test(arguments: [
        (#"{"Days": 30, "Excluded": ["org.example.App Key"], "Background": ["tray"]}"#, ""),
        (#"{"Days": -1}"#, "Days is ignored: it must be a whole number from 0 to 36500.\n"),
        (#"{"Day": 30}"#, "no option 'Day', and ignores it. Did you mean Days?\n"),
        (#"{"Excluded": "org.example.App"}"#, "Excluded is ignored: it must be a list of texts.\n"),
    ])
    func `Options of the history are checked, too`(text: String, remark: String) async throws {
        let file = "\(HistoryOption.domain).json"
        try await session.write(text, to: file, in: .managed)
        let result = await session.tool("lint", session.path(of: file, in: .managed))
        #expect(
            remark.isEmpty ? result.output.isEmpty : result.output.hasSuffix(remark), "\(result)")
    }
}
