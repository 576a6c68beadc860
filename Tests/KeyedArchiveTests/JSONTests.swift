import TestSupport
import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestTiers
import Testing

@Suite("JSON", .startsPrograms)
struct JSONTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let json: [UInt8]
        let line: Int
        let column: Int
        let code: JSONError.Code

        var testDescription: String { json.text }

        init(_ json: String, _ line: Int, _ column: Int, _ code: JSONError.Code = .syntax) {
            self.init(Array(json.utf8), line, column, code)
        }

        init(_ json: [UInt8], _ line: Int, _ column: Int, _ code: JSONError.Code = .syntax) {
            self.json = json
            self.line = line
            self.column = column
            self.code = code
        }
    }

    static let syntax: [Case] = [
        Case("", 1, 1), Case("  ", 1, 3), Case("[", 1, 2), Case("[1", 1, 3), Case("[1,]", 1, 4),
        Case("[1 2]", 1, 4), Case("]", 1, 1), Case("{", 1, 2), Case("{\"a\"}", 1, 5),
        Case("{\"a\":}", 1, 6), Case("{a:1}", 1, 2), Case("{\"a\":1,}", 1, 8),
        Case("{\"a\":1\n\n ]", 3, 2), Case("1 2", 1, 3), Case("tru", 1, 1), Case("trues", 1, 1),
        Case("nul", 1, 1), Case("01", 1, 2), Case("-", 1, 2), Case("1.", 1, 3), Case(".5", 1, 1),
        Case("1e", 1, 3), Case("+1", 1, 1), Case("NaN", 1, 1), Case("\"abc", 1, 5),
        Case("\"\\x\"", 1, 2), Case("\"\\u12g4\"", 1, 6), Case("\"\\", 1, 3), Case("\"é\n\"", 1, 3),
        Case("'a'", 1, 1), Case("[1] // c", 1, 5),
        Case([0x22, 0xFF, 0x22], 1, 2), Case([0x22, 0xED, 0xA0, 0x80, 0x22], 1, 2),
    ]

    static let values: [Case] = [
        Case("170141183460469231731687303715884105728", 1, 1, .numberOutOfRange),
        Case("[1e999]", 1, 2, .numberOutOfRange),
        Case(#"{"a":1,"a":2}"#, 1, 8, .badValue),
        Case(#"{"a":1,"\u0061":2}"#, 1, 8, .badValue),
        Case(#"[{"$foo":1}]"#, 1, 3, .badValue),
        Case(#"{"$ref":1}"#, 1, 2, .badValue),
        Case(#"{"$classdef":"A"}"#, 1, 2, .badValue),
        Case(#"{"$0":1}"#, 1, 1, .badValue),
        Case(#"[{"$data":"AQ==","x":1}]"#, 1, 2, .badValue),
        Case(#"{"$data":"AQ="}"#, 1, 1, .badValue),
        Case(#"{"$data":"AR=="}"#, 1, 1, .badValue),
        Case(#"{"$data":"A==="}"#, 1, 1, .badValue),
        Case(#"{"$data":1}"#, 1, 1, .badValue),
        Case(#"[{"$bytes":"AQ=="}]"#, 1, 1, .badValue),
        Case(#"{"$bytes":"AQ=="}"#, 1, 1, .badValue),
        Case(#"{"a":{"$bytes":"AQ=="}}"#, 1, 1, .badValue),
        Case(#"{"$real":"1.0"}"#, 1, 1, .badValue),
        Case(#"{"$real":1.0}"#, 1, 1, .badValue),
        Case(#"{"$date":"now"}"#, 1, 1, .badValue),
        Case(#"{"$value":1}"#, 1, 1, .badValue),
        Case(#"{"$class":1}"#, 1, 1, .badValue),
        Case(#"{"$class":""}"#, 1, 1, .badValue),
        Case(#"{"$class":"$A"}"#, 1, 1, .badValue),
        Case(#"{"$class":"$null","a":1}"#, 1, 1, .badValue),
        Case(#"{"$class":"A","$value":1}"#, 1, 1, .badValue),
        Case(#"{"$class":"NSNumber","$value":"1"}"#, 1, 1, .badValue),
        Case(#"{"$class":"NSDictionary","NS.keys":[1],"NS.objects":[]}"#, 1, 1, .badValue),
        Case(#"[{"$top":{"a":1}}]"#, 1, 2, .badValue),
        Case(#"{"$top":1}"#, 1, 1, .badValue),
        Case(#"{"$top":{}}"#, 1, 9, .badValue),
        Case(#"{"$top":{"$data":1}}"#, 1, 9, .badValue),
    ]

    @Test("A text may begin with a byte order mark, of UTF-16, too")
    func byteOrderMarks() throws {
        let text = #"{"é": "😀"}"#
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let plain = try KeyedArchive(json: text)
        for bytes in [
            [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big,
        ] {
            #expect(try KeyedArchive(json: bytes).bytes == plain.bytes)
        }
        #expect(throws: JSONError.self) { try KeyedArchive(json: [0xFF, 0xFE, 0x3D, 0xD8]) }
    }

    @Test("is refused with its line and column", arguments: syntax + values)
    func refusal(_ refused: Case) throws {
        let error = try #require(throws: JSONError.self) { try KeyedArchive(json: refused.json) }
        #expect(error.code == refused.code)
        #expect(error.line == refused.line)
        #expect(error.column == refused.column)
        #expect(error.message.hasSuffix("."))
    }

    @Test("is limited in depth and size")
    func limits() throws {
        let limits = ValueFormLimits(size: 200, depth: 3)
        #expect(throws: Never.self) { try KeyedArchive(json: "[[[1]]]", limits: limits) }
        for json in ["[[[[1]]]]", "\"\(String(repeating: "x", count: 200))\""] {
            let error = #expect(throws: JSONError.self) {
                try KeyedArchive(json: json, limits: limits)
            }
            #expect(error?.cause?.code == .limitExceeded)
        }
    }

    @Test("keeps every key of a large dictionary, and finds a duplicate one")
    func manyKeys() throws {
        let keys = (0..<100).map { "\"key\($0)\":\($0)" }.joined(separator: ",")
        let shown = try KeyedArchive(json: "{\(keys)}").json()
        #expect(try Python.isSameJSON(shown, Array("{\(keys)}".utf8)))
        let error = #expect(throws: JSONError.self) {
            try KeyedArchive(json: "{\(keys),\"key50\":1}")
        }
        #expect(error?.cause?.code == .duplicateKey)
    }

    @Test("has reals in the fewest digits that read back the same")
    func reals() throws {
        let step = Thoroughness.isWhole ? 0x0003_1415_9265_3589 : 0x0015_8C9A_0266_1CBF
        for bits in stride(from: UInt64(1), to: 0x7FF0_0000_0000_0000, by: step) {
            let real = Double(bitPattern: bits)
            let archive = try KeyedArchive(json: Tree.jsonOfReal(real))
            #expect(try archive.json().text == Tree.jsonOfReal(real))
        }
    }
}

extension Tree {
    /// What the archive of a real is in JSON, made by way of an archive put together by hand.
    static func jsonOfReal(_ real: Double) throws -> String {
        try KeyedArchive(validating: Tree.archive(.real(real))).json().text
    }
}
