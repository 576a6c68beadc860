import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("An invalid keyed archive")
struct ValidationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let code: ArchiveError.Code

        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ code: ArchiveError.Code) {
            self.name = name
            self.bytes = bytes
            self.code = code
        }
    }

    static func root(_ entries: (Text, Tree)...) -> [UInt8] {
        Tree.dictionary(entries).bytes()
    }

    static let objects: Tree = ["$null", "s"]
    static let top: Tree = ["root": .uid(1)]

    static let cases: [Case] = [
        Case("nothing", [], .notPropertyList),
        Case("an array", Tree.array([]).bytes(), .notKeyedArchive),
        Case(
            "no $archiver", root(("$version", 100_000), ("$top", top), ("$objects", objects)),
            .notKeyedArchive),
        Case("an $archiver that is a number", Tree.archive("s", archiver: 1), .notKeyedArchive),
        Case(
            "no $version", root(("$archiver", "A"), ("$top", top), ("$objects", objects)),
            .notKeyedArchive),
        Case(
            "another $version",
            root(("$archiver", "A"), ("$version", 200_000), ("$top", top), ("$objects", objects)),
            .notKeyedArchive),
        Case(
            "no $top", root(("$archiver", "A"), ("$version", 100_000), ("$objects", objects)),
            .notKeyedArchive),
        Case("an empty $top", Tree.archive("s", top: [:]), .notKeyedArchive),
        Case(
            "no $objects", root(("$archiver", "A"), ("$version", 100_000), ("$top", top)),
            .notKeyedArchive),
        Case("a root out of range", Tree.archive("s", top: ["root": .uid(2)]), .badReference),
        Case("a reference out of range", Tree.archive([.uid(9)]), .badReference),
        Case(
            "a reference beyond all memory", Tree.archive([.uid(0)], top: ["root": .uid(255)]),
            .badReference),
        Case("an object without class", Tree.archive(["a": 1]), .badClass),
        Case("a class that is inline", Tree.archive(["$class": "Account"]), .badClass),
        Case("a class that is a string", Tree.archive(["$class": .uid(2)], "Account"), .badClass),
        Case(
            "a class whose record is wrong and comes later",
            Tree.archive(["$class": .uid(2)], ["$classname": "A", "$classes": "A"]), .badClass),
        Case(
            "a class that is an object",
            Tree.archive(["$class": .uid(1)]), .badClass),
        Case(
            "a class without name", Tree.archive(["$classname": "", "$classes": []]), .badClass),
        Case("a class without chain", Tree.archive(["$classname": "A"]), .badClass),
        Case(
            "a class with a chain of numbers", Tree.archive(["$classname": "A", "$classes": [1]]),
            .badClass),
        Case(
            "a class with hints that are none",
            Tree.archive(["$classname": "A", "$classes": ["A"], "$classhints": "A"]), .badClass),
        Case(
            "a class with very many entries",
            Tree.archive(
                .dictionary(
                    [("$classname", "A"), ("$classes", ["A"])]
                        + (0..<20).map { (Text("key\($0)"), 1) })), .badClass),
        Case("an object that is a UID", Tree.archive(.uid(0)), .badObject),
    ]

    @Test("is refused with a place and a sentence", arguments: cases)
    func refusal(_ refused: Case) throws {
        let error = try #require(throws: ArchiveError.self) {
            try KeyedArchive(validating: refused.bytes)
        }
        #expect(error.code == refused.code)
        #expect((0...refused.bytes.count).contains(error.byteOffset))
        #expect(error.message.hasSuffix("."))
    }

    @Test("is not one with unreferenced objects, hints, or other archivers' names")
    func legal() {
        let bytes = Tree.archive(
            "s", 5, ["$classname": "A", "$classes": ["A"], "$classhints": ["B"]],
            archiver: "MyArchiver")
        #expect(throws: Never.self) { try KeyedArchive(validating: bytes) }
    }
}
