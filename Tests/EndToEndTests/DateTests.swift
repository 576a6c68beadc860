import Foundation
import TestSupport
import TestTiers
import Testing

/// Dates as scripts and people read and write them.
@Suite(.startsPrograms, .serialized) struct DateTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private static let domain = "org.example.Dates"
    /// An NSDate, a date of a property list inside an array, and a date that ISO 8601 does not have.
    private static let values = [
        ("day", #"{"$class":"NSDate","NS.time":730900801.0}"#),
        ("list", #"[{"$date":-0.1}]"#),
        ("never", #"{"$class":"NSDate","NS.time":64092211200000.0}"#),
    ]

    @Test(
        arguments: [
            ([], #"= {"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}"#),
            (["--json"], #""new":{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}"#),
            (["--as-commands"], #"--json '{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}'"#),
        ] as [([String], String)])
    func `watch prints dates in ISO 8601 in each of its forms`(
        form: [String], expected: String
    ) throws {
        let watcher = try ChildProcess(
            [Desktop.programs + "/defaultsctl", "watch", "--iso-dates"] + form,
            environment: desktop.environment, output: .lines)
        defer { watcher.send(SIGTERM) }
        try desktop.waitForMatchRule(containing: "member='Changed'")
        desktop.tool("write", Self.domain, "day", "--json", Self.values[0].1)
        let line = try #require(watcher.lines).next()
        #expect(line?.contains(expected) == true, "\(line ?? "nothing")")
    }
}
