import PropertyList
import Testing

@Suite("Reading a property list")
struct ReadingTests {
    @Test(
        "gives the value of each scalar type",
        arguments: [
            ([0x08], .boolean(false)),
            ([0x09], .boolean(true)),
            ([0x10, 0xFF], .integer(255)),
            ([0x11, 0xFF, 0xFE], .integer(0xFFFE)),
            ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], .integer(0xFFFF_FFFF)),
            ([0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], .integer(-2)),
            ([0x13, 0, 0, 0, 0, 0, 0, 0, 7], .integer(7)),
            ([0x14] + Array(repeating: 0xFF, count: 16), .integer(-1)),
            ([0x14, 0x7F] + Array(repeating: 0xFF, count: 15), .integer(Int128.max)),
            ([0x14, 0x80] + Array(repeating: 0, count: 15), .integer(Int128.min)),
            ([0x22, 0x3F, 0x00, 0, 0], .singleReal(0.5)),
            ([0x23, 0x40, 0x04, 0, 0, 0, 0, 0, 0], .real(2.5)),
            ([0x33, 0xC0, 0x04, 0, 0, 0, 0, 0, 0], .date(-2.5)),
            ([0x80, 0x07], .uid(7)),
            ([0x82, 0x01, 0x00, 0x00], .uid(0x010000)),
            ([0x87] + Array(repeating: 0xFF, count: 8), .uid(.max)),
        ] as [([UInt8], PropertyList.Value)])
    func scalar(_ object: [UInt8], _ value: PropertyList.Value) throws {
        let list = try PropertyList(RawList(object).bytes)
        #expect(list.value(at: list.root) == value)
    }

    @Test(
        "gives the text of each kind of string",
        arguments: [
            ([0x50], Text("")),
            ([0x53, 0x61, 0x62, 0x63], Text("abc")),
            ([0x51, 0x00], Text("\u{0}")),
            ([0x61, 0x00, 0xE9], Text("\u{E9}")),
            ([0x62, 0xD8, 0x3D, 0xDE, 0x00], Text("\u{1F600}")),
            ([0x61, 0xD8, 0x3D], Text(utf16: [0xD83D])),
            ([0x62, 0xDE, 0x00, 0xD8, 0x3D], Text(utf16: [0xDE00, 0xD83D])),
            ([0x5F, 0x10, 0x01, 0x61], Text("a")),
            ([0x5F, 0x13, 0, 0, 0, 0, 0, 0, 0, 1, 0x61], Text("a")),
        ] as [([UInt8], Text)])
    func string(_ object: [UInt8], _ text: Text) throws {
        let list = try PropertyList(RawList(object).bytes)
        #expect(list.text(at: list.root) == text)
    }

    @Test("gives data, as a slice of the bytes")
    func data() throws {
        let list = try PropertyList(RawList([0x43, 1, 2, 3]).bytes)
        guard case .data(let range) = list.value(at: list.root) else {
            Issue.record("This is not data.")
            return
        }
        #expect(list.data(of: range) == [1, 2, 3])
    }

    @Test("accepts offsets and references of 1 to 8 bytes", arguments: 1...8, 1...8)
    func widths(offset: Int, reference: Int) throws {
        let references = [1, 2, 1].flatMap { RawList.bigEndian($0, width: reference) }
        var raw = RawList([0xA3] + references, [0x10, 5], [0x09])
        raw.offsetWidth = offset
        raw.referenceWidth = reference
        let list = try PropertyList(raw.bytes)
        guard case .array(let elements) = list.value(at: list.root) else {
            Issue.record("This is not an array.")
            return
        }
        let values = list.elements(of: elements).map(list.value)
        #expect(values == [.integer(5), .boolean(true), .integer(5)])
    }

    @Test("distinguishes arrays, sets, ordered sets and dictionaries")
    func collections() throws {
        let raw = RawList(
            [0xA4, 1, 2, 3, 4], [0xA0], [0xB1, 5], [0xC1, 5], [0xD1, 5, 5], [0x51, 0x61])
        let list = try PropertyList(raw.bytes)
        guard case .array(let references) = list.value(at: list.root) else {
            Issue.record("This is not an array.")
            return
        }
        let kinds = list.elements(of: references).map { index in
            switch list.value(at: index) {
            case .array(let elements): "array \(elements.count)"
            case .orderedSet(let elements): "ordered set \(elements.count)"
            case .set(let elements): "set \(elements.count)"
            case .dictionary(let keys, let values): "dictionary \(keys.count) \(values.count)"
            default: "scalar"
            }
        }
        #expect(kinds == ["array 0", "ordered set 1", "set 1", "dictionary 1 1"])
    }

    @Test("allows unreferenced objects, and a root that is not the first")
    func unreferenced() throws {
        var raw = RawList([0x08], [0x09])
        raw.root = 1
        let list = try PropertyList(raw.bytes)
        #expect(list.value(at: list.root) == .boolean(true))
        #expect(list.objectCount == 2)
    }

    @Test("accepts a shared collection without walking it again")
    func shared() throws {
        // Forty levels of two references each: a walk of every path would take 2^40 steps.
        let levels = (0..<40).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] }
        let list = try PropertyList(RawList(objects: levels + [[0x09]]).bytes)
        #expect(list.objectCount == 41)
    }

    @Test("finds the largest UID of all objects, if there is one")
    func largestUID() throws {
        #expect(try PropertyList(RawList([0x08]).bytes).largestUID == nil)
        #expect(try PropertyList(RawList([0x80, 0]).bytes).largestUID == 0)
        let list = try PropertyList(RawList([0xA1, 1], [0x81, 1, 4], [0x80, 9]).bytes)
        #expect(list.largestUID == 260)
    }
}
