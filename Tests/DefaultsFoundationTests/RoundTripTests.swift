import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

@Suite("Objects that are archived and decoded")
struct RoundTripTests {
    @Test("are equal, and of the same class", arguments: Sample.all)
    func values(_ sample: Sample) throws {
        let value = sample.make()
        let archive = try KeyedArchive(archiving: value)
        let again = try archive.decodeObject(of: [
            value.classForCoder, NSMutableSet.self, NSMutableDictionary.self,
        ])
        let object = try #require(again)
        #expect(sample.isSame(object))
        #expect(ObjectIdentifier(object.classForCoder) == ObjectIdentifier(value.classForCoder))
        #expect(try KeyedArchive(archiving: object).bytes == archive.bytes)
    }

    @Test("may have user's classes and superclasses")
    func accounts() throws {
        for account in [Account(), Administrator()] {
            account.username = "grace"
            account.isActive = false
            let archive = try KeyedArchive(archiving: account)
            let again = try archive.decodeObject(of: Account.self)
            #expect(again == account)
            #expect(again.map { type(of: $0) == type(of: account) } == true)
        }
        let archive = try KeyedArchive(archiving: Account())
        #expect(throws: ObjectCodingError.self) { try archive.decodeObject(of: Administrator.self) }
    }

    @Test("keep their booleans, and fields without a key")
    func options() throws {
        let archive = try KeyedArchive(archiving: Options())
        let expected =
            #"{"$0":"unkeyed","$class":"DefaultsFoundationTests.Options","isFullScreen":false,"#
            + #""playsSound":true}"#
        #expect(try archive.json().text == expected)
        let again = try #require(try archive.decodeObject(of: Options.self))
        #expect(again.playsSound && !again.isFullScreen && again.hint == "unkeyed")
    }

    @Test("share what they shared, even in cycles")
    func graph() throws {
        let ada = Person("Ada")
        let byron = Person("Byron", children: [ada, Person("Allegra")])
        ada.friend = byron.children[1]
        byron.friend = byron
        let archive = try KeyedArchive(archiving: [byron, ada])
        let people = try archive.decodeObject(of: NSArray.self, allowing: [Person.self])
        let again = try #require(people as? [Person])
        #expect(again.map(\.name) == ["Byron", "Ada"])
        #expect(again[1] === again[0].children[0])
        #expect(again[1].parent === again[0])
        #expect(again[1].friend === again[0].children[1])
        #expect(again[0].friend === again[0])
        again[0].friend = nil
        byron.friend = nil
    }

    @Test("lose conditional references to objects that are not archived otherwise")
    func conditional() throws {
        let ada = Person("Ada")
        let byron = Person("Byron", children: [ada])
        #expect(ada.parent === byron)
        let archive = try KeyedArchive(archiving: ada)
        #expect(try archive.decodeObject(of: Person.self)?.parent == nil)
        #expect(try archive.json().text.contains(#""parent":null"#))
    }

    @Test("may be Swift values that are bridged")
    func bridged() throws {
        let value: [String: Any] = [
            "s": "text", "i": 1, "b": true, "d": 1.5,
            "a": ["x", Date(timeIntervalSinceReferenceDate: 0)],
            "data": Data([1]), "none": Optional<Int>.none as Any, "u": UUID(uuid: Self.noUUID),
            "set": Set(["q", "p"]),
        ]
        let expected =
            #"{"a":["x",{"$class":"NSDate","NS.time":0.0}],"b":true,"d":1.5,"data":{"$data":"AQ=="},"#
            + #""i":1,"none":{"$class":"NSNull"},"s":"text","set":{"$class":"NSSet","NS.objects":"#
            + #"["p","q"]},"u":{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AAAAAAAAAAAAAAAAAAAAAA=="}}}"#
        #expect(try KeyedArchive(archiving: value).json().text == expected)
        #expect(try KeyedArchive(archiving: nil).json().text == "null")
        #expect(try KeyedArchive(archiving: nil).decodeObject(of: NSString.self) == nil)
    }

    private static let noUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    @Test("A URL keeps its base")
    func urlBase() throws {
        let base = try #require(URL(string: "http://example.org/a/"))
        let url = try #require(NSURL(string: "b/c", relativeTo: base))
        let archive = try KeyedArchive(archiving: url)
        let read = try archive.decodeObject(of: NSURL.self)
        #expect(read == url && read?.relativeString == "b/c" && read?.baseURL == base)
        let foundations = try NSKeyedArchiver.archivedData(
            withRootObject: url, requiringSecureCoding: true)
        #expect(try KeyedArchive(validating: foundations).decodeObject(of: NSURL.self) == url)
    }

    @Test("URLs that are each other's bases are joined once each")
    func urlChain() throws {
        var json = #"{"$class":"NSURL","NS.base":null,"NS.relative":"http://example.org/"}"#
        for _ in 0..<200 {
            json = #"{"$class":"NSURL","NS.base":\#(json),"NS.relative":"x/"}"#
        }
        let url = try KeyedArchive(json: json).decodeObject(of: NSURL.self)
        #expect(
            url?.absoluteString
                == "http://example.org/" + String(repeating: "x/", count: 200))
    }
}
