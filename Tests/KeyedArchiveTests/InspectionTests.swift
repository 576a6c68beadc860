import ArchiveTestSupport
import Foundation
import ArchiveInspection
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// What people see of an archive; numbers are the invariants of `ArchiveTree`.
@Suite("The tree of an archive") struct InspectionTests {
    static func lines(
        of listing: some InspectionListing
    ) throws(ArchiveError) -> [String] {
        var listing = listing
        var lines: [String] = []
        while let line = try listing.next() { lines.append(line.description) }
        return lines
    }

    static func tree(
        _ bytes: [UInt8], _ change: (inout InspectionOptions) -> Void = { _ in }
    ) throws -> [String] {
        var options = InspectionOptions()
        change(&options)
        return try lines(of: ArchiveTree(of: KeyedArchive(validating: bytes), options: options))
    }

    /// The lines below the first, which says how large the archive is.
    static func below(_ bytes: [UInt8]) throws -> String {
        try tree(bytes).dropFirst().joined(separator: "\n")
    }

    @Test("shows fields and scalars by their types")
    func scalars() throws {
        let bytes = Tree.archive(
            [
                "$class": .uid(2), "yes": true, "inline": 1, "boxed": .uid(3), "real": 0.5,
                "single": .single(0.1), "name": .uid(4), "nothing": .uid(0),
                "bytes": .data([0, 255]), "data": .uid(5), "when": .uid(6), "a b": .date(0.5),
                "": .real(.nan),
            ], Tree.record("Game"), 7, "Zoë", .data([]), .date(86_400))
        #expect(
            try Self.below(bytes) == """
                └─ root: Game
                   ├─ yes: true
                   ├─ inline: 1
                   ├─ boxed: NSNumber 7
                   ├─ real: 0.5
                   ├─ single: 0.1 (32 bits)
                   ├─ name: "Zoë"
                   ├─ nothing: nil
                   ├─ bytes: inline data, 2 bytes: 00 ff
                   ├─ data: data, 0 bytes
                   ├─ when: 2001-01-02T00:00:00Z (86400.0 s)
                   ├─ "a b": 2001-01-01T00:00:00Z (0.5 s)
                   └─ "": nan
                """)
    }

    @Test("shows the known classes by their contents, and their subclasses with fields")
    func knownClasses() throws {
        let bytes = Tree.archive(
            [
                "$class": .uid(2),
                "NS.objects": [.uid(3), .uid(5), .uid(7), .uid(9), .uid(11), .uid(14)],
            ],
            Tree.record("NSArray"),
            ["$class": .uid(4), "NS.time": 86_400.25], Tree.record("NSDate"),
            ["$class": .uid(6), "NS.uuidbytes": .data([UInt8](0x10...0x1F))],
            Tree.record("NSUUID"),
            ["$class": .uid(8), "NS.base": .uid(0), "NS.relative": .uid(13)], Tree.record("NSURL"),
            ["$class": .uid(10), "NS.string": "mutable"],
            Tree.record("NSMutableString", "NSString"),
            ["$class": .uid(12), "NS.objects": []], Tree.record("NSCountedSet", "NSSet"),
            "https://example.org/", ["$class": .uid(4), "NS.time": 86_400])
        #expect(
            try Self.below(bytes) == """
                └─ root: NSArray, 6 elements
                   ├─ 0: NSDate 2001-01-02T00:00:00Z (86400.25 s)
                   ├─ 1: NSUUID 10111213-1415-1617-1819-1A1B1C1D1E1F
                   ├─ 2: NSURL "https://example.org/"
                   ├─ 3: NSMutableString "mutable"
                   ├─ 4: NSCountedSet
                   │  └─ NS.objects: array, empty
                   └─ 5: NSDate 2001-01-02T00:00:00Z (86400.0 s)
                """)
    }

    @Test("shows shared objects once, and cycles as references (1)")
    func sharing() throws {
        let bytes = Tree.archive(
            [
                "$class": .uid(4), "left": .uid(2), "right": .uid(2), "self": .uid(1),
                "list": .uid(5),
            ],
            ["$class": .uid(4), "name": .uid(3)], "both", Tree.record("Node"), [.uid(2), .uid(3)])
        #expect(
            try Self.below(bytes) == """
                └─ root: Node #1
                   ├─ left: Node #2
                   │  └─ name: "both"
                   ├─ right: → #2 Node
                   ├─ self: → #1 Node
                   └─ list: array, 2 elements
                      ├─ 0: → #2 Node
                      └─ 1: "both"
                """)
    }

    @Test("shows keys of every kind")
    func keys() throws {
        let bytes = Tree.archive(
            [
                "$class": .uid(2),
                "NS.keys": [.uid(3), .uid(4), .uid(5), .uid(7), .uid(0), .uid(8)],
                "NS.objects": [.uid(4), .uid(4), .uid(4), .uid(4), .uid(4), .uid(1)],
            ],
            Tree.record("NSMutableDictionary", "NSDictionary"), "a\n", 7,
            ["$class": .uid(6), "NS.time": 0.0], Tree.record("NSDate"), .data([1]),
            ["$class": .uid(9), "x": 1], Tree.record("Point"))
        #expect(
            try Self.below(bytes) == """
                └─ root: NSMutableDictionary #1, 6 entries
                   ├─ "a\\n": 7
                   ├─ 7: 7
                   ├─ NSDate 2001-01-01T00:00:00Z (0.0 s): 7
                   ├─ data, 1 byte: 01: 7
                   ├─ nil: 7
                   └─ entry
                      ├─ key: Point
                      │  └─ x: 1
                      └─ value: → #1 NSMutableDictionary
                """)
    }

    @Test("shows an inline key even if it has the name of an object")
    func inlineKey() throws {
        for key in [["$class": 5, "NS.string": "x"], ["$class": .uid(0), "a": 1]] as [Tree] {
            let bytes = Tree.archive(
                ["$class": .uid(2), "NS.keys": [key], "NS.objects": [1]],
                Tree.record("NSDictionary"))
            #expect(try Self.below(bytes).contains("$class: "))
        }
    }

    @Test("shows the collections of the property list, and each entry of $top")
    func inlineCollections() throws {
        let bytes = Tree.archive(
            .set([1, 2]), ["$classname": "Lone", "$classes": ["Lone"]],
            top: ["set": .uid(1), "class": .uid(2), "dictionary": ["ordered": .orderedSet([])]])
        #expect(
            try Self.below(bytes) == """
                ├─ set: set, 2 elements
                │  ├─ 0: 1
                │  └─ 1: 2
                ├─ class: class Lone
                └─ dictionary: dictionary, 1 entry
                   └─ ordered: ordered set, empty
                """)
    }

    @Test("shows archives inside data on request, and theirs (4)")
    func nested() throws {
        let inner = Tree.archive("inside")
        let middle = Tree.archive(.data(inner))
        let outer = Tree.archive(.data(middle))
        let count = (inner.count, middle.count)
        let closed = try Self.tree(outer)
        #expect(closed.count == 2)
        #expect(
            closed.last?.hasSuffix(
                "…: keyed archive by NSKeyedArchiver, 2 objects, \(count.1) bytes") == true)
        let open = try Self.tree(outer) { $0.opensArchives = true }
        #expect(open.count == 4)
        #expect(open[2].hasPrefix("   └─ root: data, \(count.0) bytes: 62 70 6c 69 73 74"))
        #expect(open[3] == "      └─ root: \"inside\"")

        let json = try KeyedArchive(validating: outer).json(opensArchives: true)
        #expect(
            String(decoding: json, as: UTF8.self)
                == #"{"$data":{"$archive":{"$data":{"$archive":"inside"}}}}"#)
        let field = Tree.archive(
            ["$class": .uid(2), "a": .data(inner), "b": .data([1])], Tree.record("A"))
        let fieldJSON = try KeyedArchive(validating: field).json(opensArchives: true)
        #expect(
            String(decoding: fieldJSON, as: UTF8.self)
                == #"{"$class":"A","a":{"$bytes":{"$archive":"inside"}},"b":{"$bytes":"AQ=="}}"#)
    }

    @Test("stops opening archives at a depth, and at a size")
    func bombs() throws {
        var bytes = Tree.archive("bottom")
        for _ in 0..<40 { bytes = Tree.archive(.data(bytes)) }
        let lines = try Self.tree(bytes) { $0.opensArchives = true }
        #expect(lines.count == 18)
        #expect(lines.last?.hasSuffix("nested too deep to be opened") == true)

        // Each level holds the one below many times: eight levels would be 100 million.
        bytes = Tree.archive("bottom")
        for _ in 0..<8 { bytes = Self.repeated(bytes, 10) }
        let error = #expect(throws: ArchiveError.self) {
            try KeyedArchive(validating: bytes).json(
                opensArchives: true, limits: ValueFormLimits(size: 1 << 18, depth: 1000))
        }
        #expect(error?.code == .outputTooLarge)
        #expect((error?.byteOffset ?? .max) < bytes.count)
        #expect(throws: ArchiveError.self) {
            try Self.tree(bytes) {
                $0.opensArchives = true
                $0.limit = 1 << 18
            }
        }
    }

    /// An archive whose root is an array that has one data many times.
    static func repeated(_ data: [UInt8], _ count: Int) -> [UInt8] {
        var writer = PropertyListWriter()
        let inside = writer.add(data: data)
        let objects = [
            writer.add(string: "$null"), writer.add(array: Array(repeating: inside, count: count)),
        ]
        let entries: KeyValuePairs<Text, ObjectIndex> = [
            "$version": writer.add(integer: 100_000),
            "$archiver": writer.add(string: "NSKeyedArchiver"),
            "$top": writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
            "$objects": writer.add(array: objects),
        ]
        let root = writer.add(
            keys: entries.map { writer.add(string: $0.key) }, values: entries.map(\.value))
        return writer.finish(root: root)
    }

    @Test("is as long as the archive, whatever is shared (1)")
    func sharedBomb() throws {
        var objects: [Tree] = (0..<40).map { level in
            ["$class": .uid(42), "NS.objects": [.uid(level + 2), .uid(level + 2)]]
        }
        objects += ["bottom", Tree.record("NSArray")]
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
        #expect(try Self.tree(archive.bytes()).count == 82)
    }

    @Test("shows very deeply nested objects below (2)")
    func deep() throws {
        let count: UInt64 = 20_000
        var objects: [Tree] = (1..<count).map { ["$class": .uid(count + 1), "next": .uid($0 + 1)] }
        objects += [["$class": .uid(count + 1), "next": .uid(1)], Tree.record("Node")]
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
        let lines = try Self.tree(archive.bytes(uidWidth: 2))
        // Each object has a line, some a second one; and the first line, and that of the circle.
        #expect(lines.count { $0.contains(": Node") } == Int(count))
        #expect(lines.count < Int(count) * 21 / 20)
        #expect(lines.allSatisfy { $0.utf8.count < 500 })
        #expect(lines.last?.hasSuffix("→ #1 Node") == true)
        #expect(lines.contains { $0.hasPrefix("#48: Node") })
    }

    @Test("shows very deeply nested objects in the order in which they were found (2)")
    func deepInOrder() throws {
        // Objects below each other, the last of which holds three more.
        let depth: UInt64 = 47
        let record = Tree.uid(depth + 4)
        var objects: [Tree] = (1..<depth).map { ["$class": record, "next": .uid($0 + 1)] }
        let leaves = (1...3).map { Tree.uid(depth + $0) }
        objects.append(["$class": record, "a": leaves[0], "b": leaves[1], "c": leaves[2]])
        objects += (1...3).map { ["$class": record, "n": .integer($0)] }
        objects.append(Tree.record("Node"))
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
        #expect(
            try Self.tree(archive.bytes()).suffix(6) == [
                "#48: Node", "└─ n: 1", "#49: Node", "└─ n: 2", "#50: Node", "└─ n: 3",
            ])
    }

    @Test("never has a control character or a long string in it")
    func hostileStrings() throws {
        let hostile = "\u{1B}[31m\u{9B}2J\u{7}\u{202E}\u{2028}\u{FEFF}\u{0}\"\\\t😀"
        let long = String(repeating: "😀", count: 1_000)
        let bytes = Tree.archive(
            [
                "$class": .uid(2), .init(hostile): .text(Text(hostile)),
                "half": .text(Text(utf16: [0xD83D])), .init("x" + long): .text(Text("x" + long)),
            ],
            Tree.record(Text(hostile)), archiver: .text(Text(hostile)))
        let archive = try KeyedArchive(validating: bytes)
        var ascii = InspectionOptions()
        ascii.linesAreASCII = true
        ascii.stringsAreASCII = true
        for options in [InspectionOptions(), ascii] {
            let lines =
                try Self.lines(of: ArchiveTree(of: archive, options: options))
                + Self.lines(of: ArchiveTree.objectTable(of: archive, options: options))
                + Self.lines(of: ClassListing(of: archive, options: options))
            for line in lines {
                #expect(line.utf8.count < 3_000)
                for scalar in line.unicodeScalars {
                    let category = scalar.properties.generalCategory
                    #expect(![.control, .format, .lineSeparator, .unassigned].contains(category))
                    if options.stringsAreASCII { #expect(scalar.isASCII || scalar == "→") }
                }
            }
        }
        let text = try Self.below(bytes)
        #expect(text.contains(#""\u{1b}[31m\u{9b}2J\u{7}\u{202e}\u{2028}\u{feff}\u{0}\"\\\t😀""#))
        #expect(text.contains(#"half: "\u{d83d}""#))
        #expect(text.contains("😀…\" (2001 UTF-16 code units)"))
    }

    @Test("can be the table of objects, with the other entries of the root")
    func objectTable() throws {
        let archive: Tree = [
            "$objects": ["$null", ["$class": .uid(2), "a": .uid(0)], Tree.record("A"), [.uid(1)]],
            "extra": .data([1]), "$top": ["root": .uid(1)], "$archiver": "Mine",
            "$version": 100_000,
        ]
        let bytes = archive.bytes()
        let lines = try Self.lines(
            of: ArchiveTree.objectTable(of: KeyedArchive(validating: bytes)))
        #expect(
            lines.joined(separator: "\n") == """
                keyed archive by Mine, 4 objects, \(bytes.count) bytes
                ├─ $objects: 4 objects
                │  ├─ #0: "$null"
                │  ├─ #1: dictionary, 2 entries
                │  │  ├─ $class: → #2
                │  │  └─ a: → #0
                │  ├─ #2: dictionary, 2 entries
                │  │  ├─ $classname: "A"
                │  │  └─ $classes: array, 2 elements
                │  │     ├─ 0: "A"
                │  │     └─ 1: "NSObject"
                │  └─ #3: array, 1 element
                │     └─ 0: → #1
                ├─ extra: data, 1 byte: 01
                ├─ $top: dictionary, 1 entry
                │  └─ root: → #1
                ├─ $archiver: "Mine"
                └─ $version: 100000
                """)
    }

    @Test("can be the list of classes")
    func classes() throws {
        let bytes = Tree.archive(
            ["$class": .uid(3)], ["$class": .uid(3)], Tree.record("A", "B"),
            ["$classname": "C", "$classes": ["D"], "$classhints": ["E", "F"]])
        let lines = try Self.lines(of: ClassListing(of: KeyedArchive(validating: bytes)))
        #expect(lines == ["#3 A : B : NSObject, 2 objects", "#4 C : D, 0 objects, hints: E, F"])
    }

    @Test("ends, even as the list of classes, if the lines are larger than the limit")
    func classLimit() throws {
        // One class record, whose name takes more bytes where it is shown, is many.
        var writer = PropertyListWriter()
        let name = writer.add(string: Text(String(repeating: "\u{1}", count: 200)))
        let large = writer.add(
            keys: ["$classname", "$classes"].map { writer.add(string: $0) },
            values: [name, writer.add(array: [])])
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
                writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 0)]),
                writer.add(
                    array: [writer.add(string: "$null")] + Array(repeating: large, count: 10_000)),
            ])
        let archive = try KeyedArchive(validating: writer.finish(root: root))
        var options = InspectionOptions()
        options.limit = 0
        let error = #expect(throws: ArchiveError.self) {
            try Self.lines(of: ClassListing(of: archive, options: options))
        }
        #expect(error?.code == .outputTooLarge)
        #expect(try Self.lines(of: ClassListing(of: archive)).count == 10_000)
    }

    @Test(
        "is there for every archive of a real program", arguments: Fixtures.keyed.filter(\.isBinary)
    )
    func fixtures(_ fixture: Fixtures.Fixture) throws {
        let archive = try KeyedArchive(validating: fixture.bytes)
        var options = InspectionOptions()
        options.opensArchives = true
        #expect(try Self.lines(of: ArchiveTree(of: archive, options: options)).count > 1)
        #expect(try Self.lines(of: ArchiveTree.objectTable(of: archive)).count > 4)
        #expect(try Self.lines(of: ClassListing(of: archive)).count > 0)
    }

    @Test("exists or is an error, whatever the bytes")
    func damaged() throws {
        var random = SeededGenerator()
        var shown = 0
        for round in 0..<20_000 {
            var bytes = RobustnessTests.own[round % RobustnessTests.own.count]
            for _ in 0...random.next() % 3 {
                bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
            }
            guard let archive = try? KeyedArchive(validating: bytes) else { continue }
            var options = InspectionOptions()
            options.opensArchives = true
            options.limit = 1 << 16
            _ = try? Self.lines(of: ArchiveTree(of: archive, options: options))
            _ = try? Self.lines(of: ArchiveTree.objectTable(of: archive, options: options))
            _ = try? Self.lines(of: ClassListing(of: archive, options: options))
            shown += 1
        }
        #expect(shown > 1_000)
    }
}
