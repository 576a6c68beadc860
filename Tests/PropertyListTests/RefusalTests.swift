import PropertyList
import Testing

@Suite("An invalid property list")
struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let code: PropertyListError.Code
        let offset: Int

        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ code: PropertyListError.Code, at offset: Int) {
            self.name = name
            self.bytes = bytes
            self.code = code
            self.offset = offset
        }

        init(_ name: String, _ raw: RawList, _ code: PropertyListError.Code, at offset: Int) {
            self.init(name, raw.bytes, code, at: offset)
        }
    }

    static func list(_ objects: [UInt8]..., change: (inout RawList) -> Void = { _ in }) -> RawList {
        var raw = RawList(objects: objects)
        change(&raw)
        return raw
    }

    static let cases: [Case] = [
        Case("nothing", [], .empty, at: 0),
        Case("XML", Array("<?xml version=\"1.0\"?><plist/>".utf8), .xml, at: 0),
        Case("XML after a mark", [0xEF, 0xBB, 0xBF] + Array(" <plist>".utf8), .xml, at: 0),
        Case("other bytes", Array("bplist15 and more".utf8), .badHeader, at: 6),
        Case("a header alone", Array("bplist00".utf8), .truncated, at: 8),
        Case("too wide offsets", list([0x08]) { $0.offsetWidth = 9 }, .badTrailer, at: 24),
        Case("no references", list([0x08]) { $0.referenceWidth = 0 }, .badTrailer, at: 16),
        Case("no objects", list([0x08]) { $0.claimedCount = 0 }, .badTrailer, at: 18),
        Case("too many objects", list([0x08]) { $0.claimedCount = .max }, .badTrailer, at: 18),
        Case("a root too high", list([0x08]) { $0.root = 1 }, .badTrailer, at: 26),
        Case("a table too far", list([0x08]) { $0.claimedTable = .max }, .badTrailer, at: 34),
        Case("a table in the header", list([0x08]) { $0.claimedTable = 8 }, .badTrailer, at: 34),
        Case("null", list([0x00]), .badObject, at: 8),
        Case("a fill byte", list([0x0F]), .badObject, at: 8),
        Case(
            "an integer of 32 bytes", list([0x15] + Array(repeating: 0, count: 32)), .badObject,
            at: 8),
        Case("a real of 2 bytes", list([0x21, 0, 0]), .badObject, at: 8),
        Case("a UID of 9 bytes", list([0x88] + Array(repeating: 0, count: 9)), .badObject, at: 8),
        Case("a type without name", list([0x70]), .badObject, at: 8),
        Case("an integer cut short", list([0x11, 0]), .truncated, at: 9),
        Case("a string cut short", list([0x52, 0x61]), .truncated, at: 9),
        Case("a count cut short", list([0x5F]), .truncated, at: 9),
        Case("a count that is a string", list([0x5F, 0x51, 0x61]), .badObject, at: 8),
        Case(
            "a negative count", list([0x4F, 0x13] + Array(repeating: 0xFF, count: 8)), .badObject,
            at: 8),
        Case(
            "a count beyond all memory",
            list([0x6F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)),
            .truncated, at: 18),
        Case("ASCII that is none", list([0x52, 0x61, 0xE9]), .badObject, at: 10),
        Case("a reference too high", list([0xA1, 1]), .badReference, at: 9),
        Case("an array in itself", list([0xA1, 0]), .cycle, at: 8),
        Case("a circle of two", list([0xA1, 1], [0xC1, 0]), .cycle, at: 8),
        Case("a key that is a number", list([0xD1, 1, 1], [0x10, 1]), .badKey, at: 8),
        Case("a key twice", list([0xD2, 1, 1, 1, 1], [0x51, 0x61]), .badKey, at: 8),
        Case(
            "a key twice, in two encodings",
            list([0xD2, 1, 2, 1, 1], [0x51, 0x61], [0x61, 0, 0x61]), .badKey, at: 8),
    ]

    @Test("is refused with the offset of the fault", arguments: cases)
    func refusal(_ refused: Case) throws {
        let error = try #require(throws: PropertyListError.self) {
            try PropertyList(refused.bytes)
        }
        #expect(error.code == refused.code)
        #expect(error.byteOffset == refused.offset)
        #expect(error.message.hasSuffix("."))
    }

    @Test("has its own sentence for each case that people meet")
    func sentences() throws {
        let bytes = RawList([0xA1, 1], [0x09]).bytes
        let cases: [[UInt8]] = [
            [], Array("<plist>".utf8), Array("random bytes".utf8), Array(bytes.prefix(20)),
            Array(bytes.dropLast()), RawList([0xA1, 9]).bytes,
        ]
        let messages = try cases.map { bytes in
            try #require(throws: PropertyListError.self) { try PropertyList(bytes) }.message
        }
        #expect(Set(messages).count == cases.count)
    }

    @Test("may have a key twice among many (invariant 5)")
    func manyKeys() {
        let keys = (0..<40).map { [0x52, 0x61, UInt8(0x30 + $0)] as [UInt8] }
        let references = (1...40).map { UInt8($0) }
        let unique = RawList(objects: [[0xDF, 0x10, 40] + references + references] + keys)
        #expect(throws: Never.self) { try PropertyList(unique.bytes) }
        var twice = unique
        twice.objects[40] = twice.objects[3]
        #expect(throws: PropertyListError.self) { try PropertyList(twice.bytes) }
    }

    @Test("may have a key twice among keys of one length and end (invariant 5)")
    func keysThatDifferInTheMiddle() {
        let keys: [[UInt8]] = ["abz", "acz", "adz"].map { [0x53] + Array($0.utf8) }
        let unique = RawList(objects: [[0xD3, 1, 2, 3, 1, 2, 3]] + keys)
        #expect(throws: Never.self) { try PropertyList(unique.bytes) }
        var twice = unique
        twice.objects[3] = [0x63, 0, 0x61, 0, 0x62, 0, 0x7A]
        #expect(throws: PropertyListError.self) { try PropertyList(twice.bytes) }
    }

    @Test("may have overlapping objects that are larger than the file (invariant 3)")
    func overlap() throws {
        let string: [UInt8] = [0x5F, 0x10, 60] + Array(repeating: 0x61, count: 60)
        var bytes = RawList(string, [0x08], [0x08]).bytes
        // All three offsets point at the string.
        bytes[8 + 63 + 2 + 1] = 8
        bytes[8 + 63 + 2 + 2] = 8
        let error = try #require(throws: PropertyListError.self) { try PropertyList(bytes) }
        #expect(error.code == .badObject)
    }

    @Test("may be over the limits")
    func limits() throws {
        let nested = RawList([0xA1, 1], [0xA1, 2], [0xA0]).bytes
        func code(_ limits: PropertyList.Limits) throws -> PropertyListError.Code {
            try #require(throws: PropertyListError.self) {
                try PropertyList(nested, limits: limits)
            }
            .code
        }
        let fitting = PropertyList.Limits(byteCount: nested.count, objectCount: 3, depth: 3)
        #expect(throws: Never.self) { try PropertyList(nested, limits: fitting) }
        for change in [\PropertyList.Limits.byteCount, \.objectCount, \.depth] {
            var limits = fitting
            limits[keyPath: change] -= 1
            #expect(try code(limits) == .limitExceeded)
        }
    }

    @Test("may have a path that is too deep, even if a shorter one leads there too (invariant 4)")
    func depthOfSharedCollections() throws {
        // The root reaches object 2 at once, and so has seen it before it comes the long way.
        let bytes = RawList([0xA2, 2, 1], [0xA1, 2], [0xA1, 3], [0xA0]).bytes
        let limits = PropertyList.Limits(byteCount: 1000, objectCount: 10, depth: 3)
        let error = try #require(throws: PropertyListError.self) {
            try PropertyList(bytes, limits: limits)
        }
        #expect(error.code == .limitExceeded)
    }
}
