import ArchiveTestSupport
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Archives of collections that are made from archives of elements, and divided into them.
@Suite struct CompositionTests {
    private static let values: [any Encodable & Sendable] = [
        7, true, 2.5, "text", "$null", [1, 2], ["a": 1], Account(username: "ada"),
        Shape2D.pair(1, "b"), [UInt8]([1, 2]), Set(["b", "a"]), [7: "x"], Empty(), Numbers(),
        Outer(inner: .init(value: 1), others: [], named: ["a": .init(value: 2)]),
    ]

    private func encode(_ value: any Encodable) throws -> KeyedArchive { try .encoding(value) }

    @Test func `An array of archives is the archive of the array`() throws {
        func check<Element: Codable>(_ elements: [Element]) throws {
            let archives = try elements.map { try KeyedArchive.encoding($0) }
            #expect(
                try KeyedArchive(array: archives).bytes == KeyedArchive.encoding(elements).bytes)
            let parts = try KeyedArchive.encoding(elements).elements()
            #expect(parts.map(\.bytes) == archives.map(\.bytes))
        }
        try check([Int]())
        try check([3, 1, 3])
        try check(["a", "$null", "a"])
        try check([true, false])
        try check([[1, 2], []])
        try check([["b": [1], "a": []]])
        try check([[UInt8]([1]), []])
        try check([Shape2D.group([.nothing, .circle(radius: 2)], name: nil), .pair(1, "b")])
        try check(Book.shelf(30))
        try check([Set([3, 1]), Set([2])])
        try check([Numbers(), Numbers()])
        try check([[2: "b", 1: "a"]])
        try check([["a": nil], ["b": 1, "c": nil]] as [[String: Int?]])
        try check([Sparse(number: 1, list: [nil], names: ["a": nil])])
    }

    @Test func `A dictionary of archives is the archive of the dictionary`() throws {
        func check<Element: Codable>(_ entries: [String: Element]) throws {
            let archives = try entries.mapValues { try KeyedArchive.encoding($0) }
            let whole = try KeyedArchive.encoding(entries)
            #expect(try KeyedArchive(dictionary: archives).bytes == whole.bytes)
            #expect(try whole.entries().mapValues(\.bytes) == archives.mapValues(\.bytes))
        }
        try check([String: Int]())
        try check(["b": 1, "a": 2, "é": 3, "$x": 4, "$null": 5, "": 6])
        try check(["a": Account(username: "ada"), "b": Account(username: "bob", age: 3)])
        try check(["x": ["y": ["z": Outer.Inner(value: 1)]]])
    }

    @Test func `Elements of many kinds are in one archive`() throws {
        let archives = try Self.values.map(encode)
        let whole = try KeyedArchive(array: archives)
        #expect(try whole.elements().map(\.bytes) == archives.map(\.bytes))
        let text = "[" + (try archives.map { try $0.text() }).joined(separator: ",") + "]"
        #expect(try whole.text() == text)
    }

    @Test func `Nil is NSNull in a collection`() throws {
        let archives = try [encode(1), encode(Int?.none), encode(Int?.none)]
        let whole = try KeyedArchive(array: archives)
        #expect(try whole.text() == #"[1,{"$class":"NSNull"},{"$class":"NSNull"}]"#)
        #expect(try whole.bytes == KeyedArchive.encoding([1, nil, nil] as [Int?]).bytes)
        let read = try whole.elements().map {
            try KeyedArchiveDecoder().decode(Int?.self, from: $0)
        }
        #expect(read == [1, nil, nil])
    }

    @Test func `An element keeps what it shares, and shares nothing with others`() throws {
        let ada = Person("ada")
        let pair = try encode([ada, ada])
        let whole = try KeyedArchive(array: [pair, pair])
        let people = try KeyedArchiveDecoder().decode([[Person]].self, from: whole)
        #expect(people[0][0] === people[0][1] && people[1][0] === people[1][1])
        #expect(people[0][0] !== people[1][0])
        for part in try whole.elements() { #expect(part.bytes == pair.bytes) }
        // What two elements share is in both parts.
        let shared = try encode([[ada], [ada]]).elements()
        #expect(
            try shared.map { try $0.text() } == [
                #"[{"$class":"Person","friend":null,"name":"ada"}]"#,
                #"[{"$class":"Person","friend":null,"name":"ada"}]"#,
            ])
    }

    @Test func `An element keeps its classes and its cycles`() throws {
        let chain = try encode(Car(brand: "Tatra"))
        let parts = try KeyedArchive(array: [chain]).elements()
        #expect(try KeyedArchiveDecoder().decode(Car.self, from: parts[0]).wheels == 4)
        #expect(parts[0].bytes == chain.bytes)
        let cycle = try KeyedArchive(
            validating: Tree.archive(
                ["$class": .uid(2), "next": .uid(1), "name": .uid(3)],
                Tree.record("Node", "Base"), "a"))
        let whole = try KeyedArchive(dictionary: ["a": cycle, "b": cycle])
        let entries = try whole.entries()
        #expect(entries.count == 2)
        for entry in entries.values { #expect(entry.isSame(as: cycle)) }
    }

    @Test func `Inline elements of other writers become objects`() throws {
        let archive = try KeyedArchive(
            validating: Tree.archive(
                [
                    "$class": .uid(2),
                    "NS.objects": [1, "x", [1, 2], ["k": [true], "r": .uid(3)]],
                ],
                Tree.record("NSArray"), "y"))
        let parts = try archive.elements()
        #expect(
            try parts.map { try $0.text() } == ["1", #""x""#, "[1,2]", #"{"k":[true],"r":"y"}"#])
        for part in parts { _ = try KeyedArchive(validating: part.bytes) }
        let joined = try KeyedArchive(array: parts)
        #expect(try joined.text() == #"[1,"x",[1,2],{"k":[true],"r":"y"}]"#)
    }

    @Test(arguments: Fixtures.keyed.filter(\.isBinary))
    func `An archive of a real program is the same as the only element`(
        _ fixture: Fixtures.Fixture
    ) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        guard let whole = try? KeyedArchive(array: [archive]) else {
            // Only an archive with several roots, or without an object, cannot be an element.
            #expect(try archive.text().hasPrefix(#"{"$top":"#))
            return
        }
        guard let part = try? whole.elements().first else {
            #expect(throws: ArchiveError.self) { try archive.json() }
            return
        }
        let (text, original) = (try part.text(), try archive.text())
        // A root of another name is part of the text, and of its references.
        #expect(text == original || original.hasPrefix(#"{"$top":{"#))
        #expect(try KeyedArchive(array: [part]).bytes == whole.bytes)
    }

    @Test func `A root of another kind is an error that says what it is`() throws {
        #expect(
            summary { _ = try encode(7).elements() }
                == "mismatch at : Expected an array, found an integer.")
        #expect(
            summary { _ = try encode(["a": 1]).elements() }
                == #"mismatch at : Expected an array, found an object of class "NSDictionary"."#)
        #expect(
            summary { _ = try encode(Account(username: "a")).entries() }
                == #"mismatch at : Expected a dictionary, found an object of class "Account"."#)
        #expect(summary { _ = try encode([1]).entries() } != nil)
        #expect(summary { _ = try encode(Int?.none).elements() }?.contains("found nil") == true)
        #expect(
            summary { _ = try encode([1: 2]).entries() }
                == "corrupted at : A key of the dictionary is not a string.")
        #expect(try encode(Set([1, 2])).elements().count == 2)
        for keys in [["a", "a"], ["\u{E9}", "e\u{301}"]] {
            let names = keys.map { "\"\($0)\"" }.joined(separator: ",")
            let archive = try KeyedArchive(
                json: #"{"$class":"NSDictionary","NS.keys":[\#(names)],"NS.objects":[1,2]}"#)
            #expect(
                summary { _ = try archive.entries() }
                    == "corrupted at : The dictionary has the same key twice.")
        }
    }

    @Test func `An archive larger than the limits is refused`() throws {
        let large = try encode(String(repeating: "x", count: 2000))
        var limits = KeyedArchive.Limits.standard
        limits.byteCount = 1000
        #expect(throws: ArchiveError.self) { try KeyedArchive(array: [large], limits: limits) }
        #expect(throws: ArchiveError.self) {
            try KeyedArchive(dictionary: ["a": large], limits: limits)
        }
    }
}

/// Archives that are much larger in parts.
@Suite struct HostileCompositionTests {
    /// An array with many references to one element.
    private func repeating(_ element: Tree, _ count: Int) throws -> KeyedArchive {
        let references = Array(repeating: Tree.uid(3), count: count)
        return try KeyedArchive(
            validating: Tree.archive(
                ["$class": .uid(2), "NS.objects": .array(references)],
                Tree.record("NSArray"), element))
    }

    private func code(_ body: () throws -> Void) -> ArchiveError.Code? {
        #expect(throws: ArchiveError.self, performing: body)?.code
    }

    @Test func `A large element that is there a million times is an error`() throws {
        let text = Tree.text(Text(String(repeating: "x", count: 10_000)))
        let archive = try repeating(text, 100_000)
        #expect(code { _ = try archive.elements() } == .outputTooLarge)
    }

    @Test func `More archives of one number than the limit allows are an error`() throws {
        let archive = try KeyedArchive.encoding(Array(repeating: 7, count: 2000))
        #expect(try archive.elements().count == 2000)
        #expect(code { _ = try archive.elements(sizeLimit: 1 << 16) } == .outputTooLarge)
    }

    @Test func `A large class record that many elements repeat is an error`() throws {
        let names = (0..<2000).map { Tree.text(Text("Class\($0)")) }
        let record: Tree = ["$classname": "Class0", "$classes": .array(names)]
        var objects: [Tree] = [
            ["$class": .uid(2), "NS.objects": .array((4..<2000).map { .uid($0) })],
            Tree.record("NSArray"), record,
        ]
        for _ in 4..<2000 { objects.append(["$class": .uid(3)]) }
        let archive = try KeyedArchive(
            validating: Tree(archive: objects).bytes(uidWidth: 2))
        #expect(code { _ = try archive.elements(sizeLimit: 1 << 20) } == .outputTooLarge)
    }

    @Test func `Elements that expand without end are an error`() throws {
        var objects: [Tree] = []
        for level in 1...40 {
            let next = Tree.uid(UInt64(level + 1))
            objects.append(["$class": .uid(42), "NS.objects": [next, next]])
        }
        objects += ["x", Tree.record("NSArray")]
        let archive = try KeyedArchive(
            validating: Tree(archive: objects).bytes())
        #expect(code { _ = try archive.elements() } == .outputTooLarge)
        // Joined, it is as small as before.
        let whole = try KeyedArchive(array: [archive, archive])
        #expect(whole.bytes.count < 3 * archive.bytes.count)
    }

    @Test func `Lists that share lists of the property list are copied once`() throws {
        var list: Tree = ["x"]
        for _ in 0..<12 { list = [list, list] }
        let archive = try repeating(list, 1)
        let parts = try archive.elements()
        #expect(try parts[0].text() == archive.text().dropFirst().dropLast())
    }

    @Test func `Any changed byte gives parts or an error`() throws {
        let originals: [KeyedArchive] = [
            try .encoding([Account(username: "ada"), Account(username: "bob", age: 3)]),
            try .encoding(["a": Shape2D.pair(1, "b"), "b": .group([.nothing], name: "n")]),
        ]
        for bytes in originals.map(\.bytes) {
            for position in Thoroughness.places(in: bytes.count) {
                for change in [0x01, 0x90] as [UInt8] {
                    var changed = bytes
                    changed[position] ^= change
                    guard let archive = try? KeyedArchive(validating: changed) else { continue }
                    if let parts = try? archive.elements() {
                        #expect(throws: Never.self) { try KeyedArchive(array: parts) }
                    }
                    _ = try? archive.entries()
                }
            }
        }
    }
}
