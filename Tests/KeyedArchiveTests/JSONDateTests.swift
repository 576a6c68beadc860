import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("A date in JSON")
struct JSONDateTests {
    private static func iso(_ json: String) throws -> String {
        try KeyedArchive(json: json).json(hasISODates: true).text
    }

    /// What is read, and what is printed with dates in ISO 8601.
    private static let table: [(String, String)] = [
        (#"{"$date":730900801.0}"#, #"{"$date":"2024-02-29T12:00:01Z"}"#),
        (
            #"{"$class":"NSDate","NS.time":730900801.0}"#,
            #"{"$class":"NSDate","$date":"2024-02-29T12:00:01Z"}"#
        ),
        (#"{"$date":-0.25}"#, #"{"$date":"2000-12-31T23:59:59.75Z"}"#),
        (
            #"{"a":[{"$class":"NSDate","NS.time":0.1},{"$date":0.0}]}"#,
            #"{"a":[{"$class":"NSDate","$date":"2001-01-01T00:00:00.1Z"},"#
                + #"{"$date":"2001-01-01T00:00:00Z"}]}"#
        ),
        (
            #"{"$class":"Book","due":{"$class":"NSDate","NS.time":1.0},"title":"Momo"}"#,
            #"{"$class":"Book","due":{"$class":"NSDate","$date":"2001-01-01T00:00:01Z"},"#
                + #""title":"Momo"}"#
        ),
    ]

    /// What is printed in the same way in both forms.
    private static let unchanged = [
        #"{"$date":{"$real":"nan"}}"#, #"{"$date":{"$real":"-inf"}}"#, #"{"$date":-0.0}"#,
        #"{"$date":252423993600.0}"#, #"{"$class":"NSDate","NS.time":-0.0}"#,
        #"{"$class":"NSDate","NS.time":{"$real":"inf"}}"#, #"{"$class":"NSDate"}"#,
        #"{"$class":"NSDate","NS.time":-63113904001.0}"#, #"{"$class":"NSDate","NS.time":"x"}"#,
        #"{"$class":"NSDate","NS.time":1.0,"zone":"UTC"}"#, #"{"$class":"NSDate","NS.time":1}"#,
        #"{"$class":"NSCalendarDate","NS.time":1.0}"#, #"{"NS.time":1.0}"#,
    ]

    @Test(
        "is in ISO 8601 on request, and reads back as the same archive", arguments: table)
    func spelling(json: String, iso: String) throws {
        let archive = try KeyedArchive(json: json)
        #expect(try archive.json(hasISODates: true).text == iso)
        #expect(try archive.json().text == json)
        #expect(try KeyedArchive(json: iso).bytes == archive.bytes)
        #expect(
            try KeyedArchive(json: archive.json(isPretty: true, hasISODates: true)).bytes
                == archive.bytes)
    }

    @Test(
        "keeps its seconds if ISO 8601 cannot express it, or it is not a plain date",
        arguments: unchanged)
    func unspelled(json: String) throws {
        #expect(try Self.iso(json) == json)
        #expect(try KeyedArchive(json: Self.iso(json)).isSame(as: KeyedArchive(json: json)))
    }

    @Test(
        "is read with an offset, and as a number beside the class NSDate",
        arguments: [
            #"{"$class":"NSDate","$date":"2024-02-29T13:00:01+01:00"}"#,
            #"{"$date":"2024-02-29T12:00:01.0Z","$class":"NSDate"}"#,
            #"{"$class":"NSDate","$date":730900801.0}"#, #"{"$class":"NSDate","$date":730900801}"#,
        ])
    func reading(json: String) throws {
        let expected = try KeyedArchive(json: #"{"$class":"NSDate","NS.time":730900801.0}"#)
        #expect(try KeyedArchive(json: json).bytes == expected.bytes)
    }

    @Test(
        "that is invalid is refused with its line and column, and with an example",
        arguments: [
            (#"{"$date":"now"}"#, 1, 1), ("[1,\n {\"$date\":\"2023-02-29T12:00:01Z\"}]", 2, 2),
            (#"{"$class":"NSDate","$date":"2024-02-29"}"#, 1, 1),
            (#"[{"$class":"NSDate","$date":"2024-02-29T12:00:01"}]"#, 1, 2),
            (#"{"$class":"NSDate","$date":true}"#, 1, 1), (#"{"$date":"\ud800"}"#, 1, 1),
        ] as [(String, Int, Int)])
    func refusal(json: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSONError.self) { try KeyedArchive(json: json) }
        #expect((error.line, error.column) == (line, column))
        #expect(error.code == .badValue)
        #expect(error.message.contains("2024-02-29T12:00:01Z"))
    }

    @Test(
        "has no meaning beside other fields, or in another class",
        arguments: [
            #"{"$class":"NSDate","$date":"2024-02-29T12:00:01Z","NS.time":1.0}"#,
            #"{"$class":"NSDate","$date":"2024-02-29T12:00:01Z","zone":"UTC"}"#,
            #"{"$class":"NSCalendarDate","$date":"2024-02-29T12:00:01Z"}"#,
        ])
    func misplaced(json: String) {
        #expect(throws: JSONError.self) { try KeyedArchive(json: json) }
    }

    @Test("is in ISO 8601 inside an archive in data")
    func nested() throws {
        let inner = try KeyedArchive(json: #"[{"$class":"NSDate","NS.time":0.0}]"#).bytes
        let outer = try KeyedArchive(validating: Tree.archive(.data(inner)))
        #expect(
            try outer.json(opensArchives: true, hasISODates: true).text
                == #"{"$data":{"$archive":[{"$class":"NSDate","$date":"2001-01-01T00:00:00Z"}]}}"#)
    }

    @Test("of any double reads back as the same archive in both forms")
    func randomDates() throws {
        var generator = SeededGenerator()
        for round in 0..<1_000 {
            let seconds =
                round.isMultiple(of: 2)
                ? Double(bitPattern: generator.next())
                : Double.random(in: -1e9...1e9, using: &generator)
            let number = try Tree.jsonOfReal(seconds)
            for json in [#"{"$date":\#(number)}"#, #"{"$class":"NSDate","NS.time":\#(number)}"#] {
                let archive = try KeyedArchive(json: json)
                let again = try KeyedArchive(json: archive.json(hasISODates: true))
                #expect(again.bytes == archive.bytes, "\(json)")
            }
        }
    }
}
