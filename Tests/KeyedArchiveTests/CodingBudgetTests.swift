import ArchiveTestSupport
import KeyedArchive
import PropertyList
import Testing

@Suite("The budget of decoding")
struct CodingBudgetTests {
    private static let size = 1 << 14

    private func decoder(_ size: Int = Self.size) -> KeyedArchiveDecoder {
        var decoder = KeyedArchiveDecoder()
        decoder.limits.size = size
        return decoder
    }

    /// What the decoder says where the budget does not do.
    private func isTooLarge(_ body: () throws -> Void) -> Bool {
        summary(of: body)?.hasSuffix(
            "is larger than \(Self.size) bytes if each shared object is decoded again.") == true
    }

    /// A thousand references to one array of a thousand elements.
    private func rows(of element: Tree) -> [UInt8] {
        Tree.archive(
            ["$class": .uid(3), "NS.objects": .array(Array(repeating: .uid(2), count: 1000))],
            [
                "$class": .uid(3), "NS.objects": .array(Array(repeating: element, count: 1000)),
            ], Tree.record("NSArray"))
    }

    /// A scalar, and how a type takes it from its container.
    struct Scalar: Sendable, CustomStringConvertible {
        let description: String
        let element: Tree
        let take: @Sendable (inout any UnkeyedDecodingContainer) throws -> Void
    }

    static let scalars: [Scalar] = [
        Scalar(description: "Int", element: 1) { _ = try $0.decode(Int.self) },
        Scalar(description: "UInt128", element: 1) { _ = try $0.decode(UInt128.self) },
        Scalar(description: "Bool", element: true) { _ = try $0.decode(Bool.self) },
        Scalar(description: "Double", element: 0.5) { _ = try $0.decode(Double.self) },
        Scalar(description: "Float", element: 0.5) { _ = try $0.decode(Float.self) },
        Scalar(description: "nil", element: .uid(0)) { _ = try $0.decodeNil() },
    ]

    struct Row: Decodable {
        init(from decoder: any Decoder) throws {
            let key = try #require(CodingBudgetTests.scalar)
            let scalar = try #require(decoder.userInfo[key] as? Scalar)
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { try scalar.take(&container) }
        }
    }

    private static let scalar = CodingUserInfoKey(rawValue: "scalar")

    @Test(
        "is counted for scalars that a type takes one by one from shared arrays (invariant 1)",
        arguments: CodingBudgetTests.scalars)
    func rows(_ scalar: Scalar) throws {
        var decoder = decoder()
        decoder.userInfo[try #require(Self.scalar)] = scalar
        #expect(isTooLarge { _ = try decoder.decode([Row].self, from: rows(of: scalar.element)) })
    }

    struct Passing: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                guard (try? container.decode(Int.self)) != nil else { return }
            }
        }
    }

    @Test("is an error even if types ignore it (invariant 1)")
    func passedOver() {
        #expect(isTooLarge { _ = try decoder().decode([Passing].self, from: rows(of: 1)) })
        #expect(isTooLarge { _ = try decoder().decode(Passing.self, from: rows(of: 1)) } == false)
    }

    /// A dictionary whose thousand keys are one long string, or objects that share one.
    private func keys(_ objects: Tree...) -> [UInt8] {
        let keys = Tree.array(Array(repeating: .uid(3), count: 1000))
        let dictionary: Tree = ["$class": .uid(2), "NS.keys": keys, "NS.objects": keys]
        return Tree(archive: [dictionary, Tree.record("NSDictionary")] + objects).bytes()
    }

    private static let long = Tree.text(Text(String(repeating: "x", count: 1000)))

    struct Optionals: Decodable {
        var a: Int?
    }

    struct AllKeys: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            #expect(container.allKeys.count < 1000)
        }
    }

    @Test("is counted for each key that is read, even if many are one string (invariant 1)")
    func keys() {
        let shared = [
            keys(Self.long),
            keys(["$class": .uid(4), "NS.string": .uid(5)], Tree.record("NSString"), Self.long),
            keys(
                ["$class": .uid(4), "NS.bytes": .data(Array(repeating: 0x78, count: 1000))],
                Tree.record("NSString")),
        ]
        for bytes in shared {
            #expect(isTooLarge { _ = try decoder().decode(Optionals.self, from: bytes) })
            #expect(isTooLarge { _ = try decoder().decode(AllKeys.self, from: bytes) })
        }
    }

    @Test("is not spent on keys of other lengths than the few that are searched for")
    func fewKeys() throws {
        let keys: Tree = ["$class": .uid(3), "NS.string": Self.long]
        let bytes = Tree.archive(
            ["$class": .uid(2), "NS.keys": [.uid(4), .uid(5)], "NS.objects": [1, 2]],
            Tree.record("NSDictionary"), Tree.record("NSString"), keys,
            ["$class": .uid(3), "NS.bytes": .data([0x61])])
        #expect(try decoder(100).decode(Optionals.self, from: bytes).a == 2)
    }

    struct Versioned: Decodable, ArchiveVersioned {
        static var archiveVersion: Int { 1 }
    }

    @Test("is counted for the fields of inline dictionaries that are searched (invariant 1)")
    func inline() {
        let fields = Tree.dictionary((0..<1000).map { (Text("k\($0)"), true) })
        let bytes = Tree.archive(.array(Array(repeating: fields, count: 20)))
        #expect(isTooLarge { _ = try decoder().decode([Versioned].self, from: bytes) })
    }

    @Test("is counted for fields that are elements, whoever skips them (invariant 1)")
    func numbered() {
        struct Idle: Decodable {
            init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
        }
        let fields = (0..<100).map { (Text("NS.object.\($0)"), Tree.uid(0)) }
        let bytes = Tree.archive(
            .array(Array(repeating: .uid(2), count: 30)),
            .dictionary([("$class", .uid(3))] + fields), Tree.record("NSArray"))
        #expect(isTooLarge { _ = try decoder().decode([Idle].self, from: bytes) })
    }

    @Test("is spent once on a class with very long names, not by each of its objects")
    func classes() throws {
        let name = Text(String(repeating: "x", count: 1 << 12))
        let record: Tree = [
            "$classname": "NSDictionary",
            "$classes": .array(["NSDictionary"] + Array(repeating: .text(name), count: 63)),
        ]
        let bytes = Tree.archive(
            .array(Array(repeating: .uid(2), count: 500)),
            ["$class": .uid(3), "NS.keys": [], "NS.objects": []], record)
        var decoder = decoder()
        decoder.setClass(Account.self, forClassName: "Whatever")
        #expect(try decoder.decode([Optionals].self, from: bytes).count == 500)
    }
}
