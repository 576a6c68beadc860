import DefaultsFiles
import DefaultsModel
import TestTiers
import Testing

@Suite(.startsPrograms) struct ProblemTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let code: LayerProblem.Code
        let line: Int?
        let column: Int?
        /// A part of the reason.
        let words: String

        var testDescription: String { String(text.prefix(60)) }

        init(
            _ text: String, _ code: LayerProblem.Code, _ line: Int? = nil, _ column: Int? = nil,
            _ words: String
        ) {
            (self.text, self.code, self.line, self.column) = (text, code, line, column)
            self.words = words
        }
    }

    static let json = [
        Case("", .syntax, nil, nil, "empty"),
        Case("  \n", .syntax, 2, 1, "not a JSON object"),
        Case("[1]", .syntax, 1, 1, "not a JSON object"),
        Case("{\r\n\"a\": 1,\r\n}", .syntax, 3, 1, "Remove the comma."),
        Case("{\"a\": [1,\n]}", .syntax, 2, 1, "Remove the comma."),
        Case("{\"a\": {\"b\": 1, }}", .syntax, 1, 16, "Remove the comma."),
        Case("{\"a\": [,]}", .syntax, 1, 8, "A value is expected here."),
        Case("{\"a\": ]}", .syntax, 1, 7, "A value is expected here."),
        Case("{\"a\" 1}", .syntax, 1, 6, "colon"),
        Case("{\"a\": 1 \"b\": 2}", .syntax, 1, 9, "comma"),
        Case("{,}", .syntax, 1, 2, "A key in quotation marks"),
        Case("{\"é\": [1 2]}", .syntax, 1, 10, "comma or the closing ]"),
        Case("{\"a\": 1} x", .syntax, 1, 10, "There is more text after"),
        Case("{\"a\": 1", .syntax, 1, 8, "comma or the closing }"),
        Case("{ a = 1; }", .syntax, 1, 3, "A key in quotation marks"),
        Case("{\"a\": 1,\n \"a\": 2}", .badKey, 2, 2, "same key twice"),
        Case("{\"a\": 1,\n \"\\u0061\": 2}", .badKey, 2, 2, "same key twice"),
        Case("{\"b\": {\"a\": 1,\n  \"a\": 2}}", .badKey, 2, 3, "same key twice"),
        Case("{\"a\": 1, \"\": 2}", .badKey, 1, 10, "it is empty"),
        Case("{\"a\\u0000b\": 2}", .badKey, 1, 2, "NUL at byte 1"),
        Case("{\"\\ud800\": 2}", .badKey, 1, 2, "unpaired surrogate"),
        Case("{\"\(String(repeating: "k", count: 1025))\": 2}", .badKey, 1, 2, "1025 bytes"),
        Case("{\n\"$lock\": []}", .badKey, 2, 1, "'$lock' begins with $"),
        Case("{\"$class\": \"A\"}", .badKey, 1, 2, "begins with $"),
        Case("{\"a\": {\n \"$foo\": 1}}", .badValue, 2, 2, "A key begins with $"),
        Case("{\"a\": {\"$\\u0007\": 1}}", .badValue, 1, 8, "A key begins with $"),
        Case("// Mail\n{}", .syntax, 1, 1, "JSON does not allow"),
        Case("\n  /* Mail */ {}", .syntax, 2, 3, "JSON does not allow"),
        Case("{\"a\": 1, // one\n\"b\": 2}", .syntax, 1, 10, "JSON does not allow"),
        Case("/ {}", .syntax, 1, 1, "not a JSON object"),
        Case("{\"a\": {\"$ref\": 1}}", .badValue, 1, 8, "$ref"),
        Case("{\"a\": \n1e999}", .badValue, 2, 1, "too large"),
        Case("{\"$locked\": \"a\"}", .syntax, 1, 13, "array of strings"),
        Case("{\"$locked\": [1]}", .syntax, 1, 14, "string is expected"),
        Case("{\"$locked\": [\"a\",\n\"b\",]}", .syntax, 2, 5, "Remove the comma."),
        Case("{\"$locked\": [\"a\" \"b\"]}", .syntax, 1, 18, "comma or the closing ]"),
        Case("{\"$locked\": [\"a\",\n \"b*c\"]}", .badLock, 2, 2, "'b*c' is not a lock"),
        Case("{\"$locked\": [\"\"]}", .badLock, 1, 14, "is not a lock"),
        Case("{\"$locked\": [\"\\udc00\"]}", .badLock, 1, 14, "unpaired surrogate"),
        Case("{\"$locked\": [], \"$locked\": []}", .badKey, 1, 17, "same key twice"),
    ]

    @Test(arguments: json)
    func `A fault in JSON has a line and a column`(of expected: Case) throws {
        let problem = try problem(expected.text)
        #expect(problem.code == expected.code)
        #expect(problem.line == expected.line && problem.column == expected.column)
        #expect(problem.reason.contains(expected.words), "\(problem)")
        #expect(problem.path == "a.json")
    }

    static let lists = [
        Case("<plist>", .syntax, 1, 8, "not well-formed XML"),
        Case("<plist><array/></plist>", .syntax, 1, 8, "not a dictionary"),
        Case("<svg/>", .syntax, 1, 1, "outermost element, <svg>, is neither"),
        Case(xml("<key>a</key>\n<int>1</int>"), .syntax, 5, 1, "no element <int>"),
        Case(xml("<key>a</key>"), .syntax, 4, 1, "no value"),
        Case(xml("<key>a</key>\n<integer>x</integer>"), .syntax, 5, 1, "<integer>"),
        Case(xml("<key>b</key><true/>\n<key/><true/>"), .badKey, 5, 1, "it is empty"),
        Case(xml("<key>b</key><string>$a</string>\n <key>$a</key><true/>"), .badKey, 5, 2, "'$a'"),
        Case(
            xml(
                "<key>b</key><true/>\n<key>a</key><array>\n<dict><key>CF$UID</key><integer>1</integer></dict></array>"
            ),
            .badValue, 5, 1, "CF$UID"),
        Case(
            xml("<key>CF$UID</key><integer>1</integer>\n<key>$a</key><true/>"), .badKey, 5, 1,
            "'$a'"),
        Case(xml("<key>CF$UID</key><integer>1</integer>"), .syntax, 3, 1, "not a dictionary"),
        Case(xml("<key>$locked</key><string>a</string>"), .badLock, 4, 1, "array of strings"),
        Case(
            xml("<key>$locked</key><array><integer>1</integer></array>"), .badLock, 4, 1,
            "array of strings"),
        Case(
            xml("<key>$locked</key><array><string>*a</string></array>"), .badLock, 4, 1,
            "'*a' is not a lock"),
        Case("bplist00", .syntax, nil, nil, "trailer"),
    ]

    @Test(arguments: lists)
    func `A fault in XML has the place of its key, or its own`(of expected: Case) throws {
        let problem = try problem(expected.text)
        #expect(problem.code == expected.code)
        #expect(problem.line == expected.line && problem.column == expected.column, "\(problem)")
        #expect(problem.reason.contains(expected.words), "\(problem)")
    }

    @Test func `A fault in a binary list has an offset`() throws {
        let list = try python("plistlib.dump({'b': 1, '$x': 7}, out, fmt=plistlib.FMT_BINARY)")
        let problem = try problem(list)
        #expect(problem.code == .badKey && problem.line == nil)
        let byte = try #require(
            problem.reason.firstMatch(of: /\(byte (\d+)\)$/).flatMap { Int($0.1) })
        // An integer of one byte, 7.
        #expect(list[byte] == 0x10 && list[byte + 1] == 7)
    }

    @Test(
        "A layer without locks refuses locks",
        arguments: [
            "{\n\"$locked\": []}", "<plist>\n<dict><key>$locked</key><array/></dict></plist>",
        ])
    func locksElsewhere(text: String) throws {
        let problem = try problem(text, .system)
        #expect(problem.code == .badLock && problem.line == 2)
        #expect(problem.reason.contains("managed"))
    }

    @Test func `A problem reads like a compiler's message, without unknown parts`() throws {
        let json = try problem("{\n \"$x\": 1}")
        #expect(json.description == "a.json:2:2: \(json.reason)")
        let empty = try problem("")
        #expect(empty.description == "a.json: \(empty.reason)")
    }

    @Test func `No message contains a value`() throws {
        for text in [
            #"{"k": {"$secret": "hush"}}"#, #"{"k": "hush"#, #"{"k": {"$data": "hush!"}}"#,
        ] {
            #expect(!(try problem(text).reason.contains("hush")))
        }
    }
}
