import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

/// References that a converter has left as the dictionaries by which XML spells them.
@Suite struct SpelledReferenceTests {
    private static func spelled(_ number: Int) -> Tree { ["CF$UID": .integer(Int128(number))] }

    private static let record: Tree = [
        "$classname": "NSArray", "$classes": ["NSArray", "NSObject"],
    ]

    @Test(arguments: [
        Tree.archive("s", top: ["root": spelled(1)]),
        Tree.archive(["$class": spelled(2)], record),
        Tree.archive(["$class": .uid(2), "NS.objects": [spelled(0)]], record),
        // One in an object that nothing refers to.
        Tree.archive("s", ["$class": .uid(3), "NS.objects": [[spelled(1)]]], record),
    ])
    func `An archive with spelled references is not stored`(bytes: [UInt8]) throws {
        let error = try #require(throws: ArchiveError.self) { try KeyedArchive(storing: bytes) }
        #expect(error.code == .badReference && error.message.contains("CF$UID"), "\(error)")
        #expect((0..<bytes.count).contains(error.byteOffset))
    }

    @Test func `A dictionary that only looks like one is not a spelled reference`() throws {
        for other: Tree in [
            ["CF$UID": "1"], ["CF$UID": 1, "b": 2], ["CF$UID": 1.5], ["cf$uid": 1],
        ] {
            let bytes = Tree.archive(["$class": .uid(2), "NS.objects": [other]], Self.record)
            #expect(throws: Never.self) { try KeyedArchive(storing: bytes) }
        }
    }
}
