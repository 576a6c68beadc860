import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import TestTiers
import Testing

@Suite(
    "Archives that are exchanged with GNUstep", .startsPrograms,
    .enabled(if: GNUstep.isInstalled, "gobjc and libgnustep-base-dev are not installed"))
struct GNUstepTests {
    private static let ada =
        #"{"$class":"Account","age":36,"balance":0.1,"friend":null,"isActive":true,"ratio":0.5,"#
        + #""tags":["a","b"],"total":-9223372036854775808,"username":"ada"}"#
    private static let grace = ada.replacingOccurrences(of: "ada", with: "grace")

    /// The value form of what the program writes.
    private static let written: [String: String] = [
        "ascii": #""text""#, "utf16": #""cé😀""#, "empty": #""""#, "mutable-string": #""mutable""#,
        "true": "true", "false": "false", "integer": "42", "smallest": "-9223372036854775808",
        "real": "0.1", "date": #"{"$date":60.5}"#, "data": #"{"$data":"AQL/"}"#,
        "mutable-data": #"{"$data":"AQL/"}"#, "null": #"{"$class":"NSNull"}"#,
        "array": #"["a",1,[]]"#, "mutable-array": #"["a"]"#,
        "dictionary": #"{"k":1}"#, "mutable-dictionary": #"{"k":"v"}"#,
        "set": #"{"$class":"NSSet","NS.objects":["a"]}"#,
        "mutable-set": #"{"$class":"NSMutableSet","NS.objects":["a"]}"#,
        "url": #"{"$class":"NSURL","NS.base":null,"NS.relative":"http://example.org/a?b"}"#,
        "shared": #"["shared","shared"]"#, "account": ada,
        "friends": "["
            + ada.replacingOccurrences(of: #""friend":null"#, with: #""friend":"# + grace)
            + ",\(grace)]",
    ]

    @Test("have the expected value form")
    func valueForm() throws {
        let archives = try GNUstep.written()
        #expect(archives.keys.sorted() == Self.written.keys.sorted())
        for (name, bytes) in archives {
            let json = try KeyedArchive(validating: bytes).json().text
            #expect(json == Self.written[name], "\(name)")
        }
    }

    @Test("have the original objects")
    func objects() throws {
        let archives = try GNUstep.written()
        for (name, bytes) in archives where name != "account" && name != "friends" {
            let archive = try KeyedArchive(validating: bytes)
            let object = try archive.decodeObject(of: FoundationInteropTests.classes)
            #expect(try #require(object).description.isEmpty == (name == "empty"), "\(name)")
        }
        let friends = try KeyedArchive(validating: #require(archives["friends"])).decodeObject(
            of: NSArray.self, allowing: [Member.self])
        let members = try #require(friends as? [Member])
        #expect(members.map(\.username) == ["ada", "grace"])
        #expect(members[0].friend === members[1])
        #expect(members[0].isActive && members[0].total == .min && members[0].ratio == 0.5)
        let shared = try KeyedArchive(validating: #require(archives["shared"]))
            .decodeObject(of: NSArray.self)
        let strings = Mirror(reflecting: try #require(shared)).children.map {
            $0.value as AnyObject
        }
        #expect(strings.count == 2 && strings[0] === strings[1])
    }

    /// Values, and what GNUstep makes of them.
    private static let values = [
        #""text""#: "text", #""cé😀""#: "cé😀", "42": "42", "-1": "-1", "true": "1", "0.1": "0.1",
        "-9223372036854775808": "-9223372036854775808", #"{"$data":"AQL/"}"#: "<0102ff>",
        #"["a",1,[],"a"]"#: "[a, 1, [], a]", #"{"k":1,"j":["v"]}"#: "{j: [v], k: 1}",
        #"{"$class":"NSDate","NS.time":60.5}"#: "date 60.5", #"{"$date":60.5}"#: "date 60.5",
        #"{"$class":"NSSet","NS.objects":["b","a"]}"#: "set[a, b]",
        #"{"$class":"NSMutableString","NS.string":"é"}"#: "é",
        #"{"$class":"NSMutableArray","NS.objects":["a"]}"#: "[a]",
        #"{"$class":"NSNull"}"#: "<null>",
        #"{"$class":"NSURL","NS.base":null,"NS.relative":"a:b"}"#: "a:b",
        ada: "Account(ada YES 36 -9223372036854775808 0.1 0.5 [a, b] nil)",
    ]

    @Test("can be read by it if made from values here")
    func readsValues() throws {
        let archives = try Self.values.keys.map { try KeyedArchive(json: $0).bytes }
        #expect(try GNUstep.read(archives) == Array(Self.values.values))
    }

    @Test("can be read by it if made from objects here")
    func readsObjects() throws {
        let objects: [(NSObject, String)] = [
            ("text" as NSString, "text"), (NSMutableString(string: "m"), "m"),
            (NSNumber(value: true), "1"), (NSNumber(value: Int64.min), "-9223372036854775808"),
            (NSData(data: Data([1])), "<01>"), (NSMutableData(data: Data([1])), "<01>"),
            (NSDate(timeIntervalSinceReferenceDate: 60.5), "date 60.5"), (NSNull(), "<null>"),
            (NSArray(array: [1, ["a"]]), "[1, [a]]"), (NSMutableArray(array: ["a"]), "[a]"),
            (NSDictionary(dictionary: ["k": "v"]), "{k: v}"),
            (NSMutableDictionary(dictionary: ["k": "v"]), "{k: v}"),
            (NSSet(array: ["b", "a"]), "set[a, b]"), (NSMutableSet(array: [1]), "set[1]"),
            (URL(filePath: "/a/b") as NSURL, "file:///a/b"),
            (
                Member("ada", friend: Member("grace")),
                "Account(ada YES 36 -9223372036854775808 0.1 0.5 [a, b] "
                    + "Account(grace YES 36 -9223372036854775808 0.1 0.5 [a, b] nil))"
            ),
        ]
        let archives = try objects.map { object, _ in
            try KeyedArchive(archiving: object).bytes
        }
        #expect(try GNUstep.read(archives) == objects.map(\.1))
    }
}

/// What the program calls Account.
private final class Member: NSObject, NSSecureCoding, ArchiveNamed {
    static let archiveClassName = "Account"
    static var supportsSecureCoding: Bool { true }

    var username = ""
    var isActive = true
    var age: Int32 = 36
    var total = Int64.min
    var balance = 0.1
    var ratio: Float = 0.5
    var tags = ["a", "b"]
    var friend: Member?

    init(_ username: String, friend: Member? = nil) {
        self.username = username
        self.friend = friend
    }

    init?(coder: NSCoder) {
        username = coder.decodeObject(of: NSString.self, forKey: "username") as String? ?? ""
        isActive = coder.decodeBool(forKey: "isActive")
        age = coder.decodeCInt(forKey: "age")
        total = coder.decodeInt64(forKey: "total")
        balance = coder.decodeDouble(forKey: "balance")
        ratio = coder.decodeFloat(forKey: "ratio")
        tags = coder.decodeObject(of: NSArray.self, forKey: "tags") as? [String] ?? []
        friend = coder.decodeObject(of: Member.self, forKey: "friend")
    }

    func encode(with coder: NSCoder) {
        coder.encode(username, forKey: "username")
        coder.encode(isActive, forKey: "isActive")
        coder.encode(age, forKey: "age")
        coder.encode(total, forKey: "total")
        coder.encode(balance, forKey: "balance")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(tags, forKey: "tags")
        coder.encode(friend, forKey: "friend")
    }
}
