import Foundation
import TestSupport
import Testing

@testable import ToolHarness

/// Dates as scripts and people read and write them.
@Suite(.inSession) struct DateTests {
    let session = TestSession.current

    private static let domain = "org.example.Dates"
    /// An NSDate, a date of a property list inside an array, and a date that ISO 8601 does not have.
    private static let values = [
        ("day", #"{"$class":"NSDate","NS.time":730900801.0}"#),
        ("list", #"[{"$date":-0.1}]"#),
        ("never", #"{"$class":"NSDate","NS.time":64092211200000.0}"#),
    ]
    private static let plain =
        "{" + values.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    private static let iso =
        #"{"day":{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"},"#
        + #""list":[{"$date":"2000-12-31T23:59:59.9Z"}],"#
        + #""never":{"$class":"NSDate","NS.time":64092211200000.0}}"#

    private func fill() async {
        for (key, json) in Self.values {
            await session.tool("write", Self.domain, key, "--json", json)
        }
    }

    @Test func `A script reads dates in ISO 8601 from every verb that prints JSON`() async throws {
        await fill()
        let day = #"{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}"#
        func printed(_ words: String...) async throws -> String {
            try await session.tool(words).requireOutput()
        }
        #expect(try await printed("read", Self.domain, "--json", "--iso-dates") == Self.iso + "\n")
        #expect(
            try await printed("read", Self.domain, "day", "--json", "--iso-dates") == day + "\n")
        #expect(
            try await printed("read", "--json", "--iso-dates")
                == "{\"\(Self.domain)\":\(Self.iso)}\n")
        #expect(
            try await printed("find", "Dates", "--json", "--iso-dates")
                == "{\"\(Self.domain)\":\(Self.iso)}\n")
        #expect(
            try await printed("inspect", Self.domain, "day", "--json", "--iso-dates") == day + "\n")
        let explained = try await printed("explain", Self.domain, "day", "--json", "--iso-dates")
        #expect(explained.contains("\"value\":\(day)"))
        let exported = try await printed(
            "export", Self.domain, "-", "--format", "json", "--iso-dates")
        #expect(exported.contains("\"day\": \(day)"))
        // The form without the option is the one that it was.
        #expect(try await printed("read", Self.domain, "--json") == Self.plain + "\n")
    }

    @Test func `Output of --iso-dates makes the same archives by write, import and apply`()
        async throws
    {
        await fill()
        let file = session.directory.path + "/dates.json"
        #expect(
            await session.tool("export", Self.domain, file, "--format", "json", "--iso-dates").error
                == "")
        #expect(await session.tool("import", "org.example.Imported", file).error == "")
        var lines = ""
        for (key, _) in Self.values {
            let json = try await session.tool("read", Self.domain, key, "--json", "--iso-dates")
                .requireOutput().trimmingCharacters(in: .newlines)
            #expect(
                await session.tool("write", "org.example.Written", key, "--json", json).error == "")
            lines += #"{"domain":"org.example.Applied","key":"\#(key)","value":\#(json)}"# + "\n"
        }
        let changes = try session.directory.write(lines, to: "changes")
        #expect(await session.tool("apply", "--file", changes).error == "")
        for name in ["Imported", "Written", "Applied"] {
            let read = await session.tool("read", "org.example.\(name)", "--json").output
            #expect(read == Self.plain + "\n", "\(name)")
        }
    }

    @Test func `find prints dates in ISO 8601, and read as macOS does`() async {
        await fill()
        let found = await session.tool("find", "Dates").output
        #expect(found.contains("day = \"2024-02-29T12:00:01Z\";"))
        #expect(found.contains("\"2000-12-31T23:59:59.9Z\""))
        let read = await session.tool("read", Self.domain).output
        #expect(read.contains("day = \"2024-02-29 12:00:01 +0000\";"))
        // What find prints is found by it, and so is the second without its fraction.
        for word in ["2000-12-31T23:59:59.9Z", "2000-12-31T23:59:59Z", "2000-12-31t23"] {
            #expect(await session.tool("find", word).output.contains("list ="), "\(word)")
        }
    }

    @Test func `A date printed by find makes the same date by write -date`() async throws {
        await session.tool(
            "write", Self.domain, "day", "--json", #"{"$class":"NSDate","NS.time":0.1}"#)
        await session.tool("write", Self.domain, "again", "-date", "2001-01-01T00:00:00.1Z")
        let read = try await session.tool("read", Self.domain, "again", "--json").requireOutput()
        #expect(read == #"{"$class":"NSDate","NS.time":0.1}"# + "\n")
    }

    @Test(arguments: [
        ["read", "a.b"], ["read", "a.b", "k", "--raw"], ["find", "x"], ["inspect", "a.b", "k"],
        ["inspect", "a.b", "k", "--xml"], ["export", "a.b", "-"],
        ["export", "a.b", "x", "--format", "binary"], ["explain", "a.b"],
    ])
    func `If no value is printed as JSON, --iso-dates is refused with a sentence`(
        words: [String]
    ) async {
        let refused = await session.tool(words + ["--iso-dates"])
        #expect(refused.status == 64)
        #expect(refused.output == "")
        #expect(refused.error.contains("--iso-dates is for"), "\(refused)")
    }

    @Test func `An invalid date is refused with line and column, and an example`() async throws {
        let json = "{\n  \"day\": {\"$date\": \"29 Feb 2024\"}\n}"
        let file = try session.directory.write(json, to: "dates.json")
        for refused in [
            await session.tool("write", "a.b", "k", "--json", json),
            await session.tool("import", "a.b", file),
        ] {
            #expect(refused.status != 0)
            #expect(refused.error.contains("line 2, column 10"), "\(refused)")
            #expect(refused.error.contains("2024-02-29T12:00:01Z"), "\(refused)")
        }
        #expect(await session.tool("read", "a.b").status == 1)
    }

    @Test func `A layer file in JSON may have dates in ISO 8601`() async throws {
        let layer = #"{"day":{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}}"#
        let file = try session.directory.write(layer, to: "org.example.Dates.json")
        chmod(file, 0o644)
        #expect(await session.tool("lint", file).status == 0)
        let wrong = try session.directory.write(
            layer.replacing("02-29", with: "02-30"), to: "org.example.Wrong.json")
        chmod(wrong, 0o644)
        let refused = await session.tool("lint", wrong)
        #expect(refused.status == 1 && refused.output.contains("2024-02-29T12:00:01Z"))
    }
}
