import ArchiveTestSupport
import Foundation
import KeyedArchive
import PropertyList
import Testing

/// An NSCoding class whose objects are those of ``FoundationTypes`` by name.
final class CodedTypes: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let date: Date
    let data: Data
    let url: URL
    let uuid: UUID
    let name: String
    let count: Int
    let ratio: Double
    let isOn: Bool
    let tags: [String]

    init(_ types: FoundationTypes) {
        (date, data, url, uuid) = (types.date, types.data, types.url, types.uuid)
        (name, count, ratio) = (types.name, types.count, types.ratio)
        (isOn, tags) = (types.isOn, types.tags)
    }

    required init?(coder: NSCoder) {
        guard let date = coder.decodeObject(of: NSDate.self, forKey: "date"),
            let data = coder.decodeObject(of: NSData.self, forKey: "data"),
            let url = coder.decodeObject(of: NSURL.self, forKey: "url"),
            let uuid = coder.decodeObject(of: NSUUID.self, forKey: "uuid"),
            let name = coder.decodeObject(of: NSString.self, forKey: "name"),
            let tags = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "tags")
        else { return nil }
        self.date = date as Date
        self.data = data as Data
        self.url = url as URL
        self.uuid = uuid as UUID
        self.name = String(describing: name)
        count = coder.decodeInteger(forKey: "count")
        ratio = coder.decodeDouble(forKey: "ratio")
        isOn = coder.decodeBool(forKey: "isOn")
        self.tags = tags as? [String] ?? []
    }

    func encode(with coder: NSCoder) {
        coder.encode(date as NSDate, forKey: "date")
        coder.encode(data as NSData, forKey: "data")
        coder.encode(url as NSURL, forKey: "url")
        coder.encode(uuid as NSUUID, forKey: "uuid")
        coder.encode(name as NSString, forKey: "name")
        coder.encode(count, forKey: "count")
        coder.encode(ratio, forKey: "ratio")
        coder.encode(isOn, forKey: "isOn")
        coder.encode(tags as NSArray, forKey: "tags")
    }
}

struct FoundationTypes: Codable, Hashable {
    var date = Date(timeIntervalSinceReferenceDate: 725_760_000.25)
    var data = Data([0, 1, 0xFF])
    var url = URL(string: "https://example.org/a?b=c#d") ?? URL(filePath: "/")
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0))
    var name = "é"
    var count = 7
    var ratio = 0.5
    var isOn = true
    var tags = ["a", "b"]
}

@Suite("Types of Foundation that are coded")
struct CodingFoundationTests {
    @Test("are their NS classes")
    func forms() throws {
        let archive = try KeyedArchive.encoding(FoundationTypes())
        let json =
            #"{"$class":"FoundationTypes","count":7,"data":{"$data":"AAH/"},"#
            + #""date":{"$class":"NSDate","NS.time":725760000.25},"isOn":true,"name":"é","#
            + #""ratio":0.5,"tags":["a","b"],"#
            + #""url":{"$class":"NSURL","NS.base":null,"NS.relative":"https://example.org/a?b=c#d"},"#
            + #""uuid":{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AQIDBAUGBwgJCqCwwNDg8A=="}}}"#
        #expect(try archive.text() == json)
        #expect(try archive.bytes == KeyedArchive(json: json).bytes)
        #expect(
            try KeyedArchiveDecoder().decode(FoundationTypes.self, from: archive)
                == FoundationTypes())
    }

    @Test("are so in collections, as roots, as keys and in optionals")
    func everywhere() throws {
        let types = FoundationTypes()
        let dates: [Date: Date?] = [types.date: nil, .distantPast: .distantFuture]
        let decoder = KeyedArchiveDecoder()
        #expect(try decoder.decode([Date: Date?].self, from: .encoding(dates)) == dates)
        #expect(
            try decoder.decode(Set<UUID>.self, from: .encoding(Set([types.uuid]))) == [types.uuid])
        #expect(try decoder.decode([Data].self, from: .encoding([types.data])) == [types.data])
        #expect(try decoder.decode(URL?.self, from: .encoding(types.url)) == types.url)
        let relative = URL(string: "index.xml", relativeTo: types.url)
        #expect(try decoder.decode(URL?.self, from: .encoding(relative)) == relative)
        #expect(
            try KeyedArchive.encoding(relative).text()
                == #"{"$class":"NSURL","NS.base":{"$class":"NSURL","NS.base":null,"NS.relative":"#
                + #""https://example.org/a?b=c#d"},"NS.relative":"index.xml"}"#)
    }

    @Test("are read by Foundation's own unarchiver")
    func readByFoundation() throws {
        let types = FoundationTypes()
        let url = URL(string: "b.html", relativeTo: types.url) ?? types.url
        func read<Object: NSObject & NSSecureCoding>(
            _ value: some Encodable, _: Object.Type
        ) throws -> Object? {
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: Object.self, from: Data(KeyedArchive.encoding(value).bytes))
        }
        #expect(try read(types.date, NSDate.self) == types.date as NSDate)
        #expect(try read(types.data, NSData.self) == types.data as NSData)
        #expect(try read(types.uuid, NSUUID.self) == types.uuid as NSUUID)
        #expect(try read(url, NSURL.self)?.absoluteString == url.absoluteString)
    }

    @Test("are decoded from what Foundation's own archiver writes")
    func writtenByFoundation() throws {
        let types = FoundationTypes()
        let url = URL(string: "b.html", relativeTo: types.url) ?? types.url
        func decode<Value: Decodable>(_: Value.Type, _ object: NSObject) throws -> Value {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: object, requiringSecureCoding: true)
            return try KeyedArchiveDecoder().decode(Value.self, from: data)
        }
        #expect(try decode(Date.self, types.date as NSDate) == types.date)
        #expect(try decode(Data.self, types.data as NSData) == types.data)
        #expect(try decode(Data.self, NSMutableData(data: types.data)) == types.data)
        #expect(try decode(UUID.self, types.uuid as NSUUID) == types.uuid)
        #expect(try decode(URL.self, url as NSURL).absoluteString == url.absoluteString)
        #expect(
            try decode([String: [Int]].self, ["a": [1, 2]] as NSDictionary) == ["a": [1, 2]])
        #expect(try decode([Bool].self, [true, false] as NSArray) == [true, false])
        #expect(try decode(Set<String>.self, NSMutableSet(array: ["a"])) == ["a"])
        #expect(try decode([String?].self, ["a", NSNull()] as NSArray) == ["a", nil])
    }

    @Test("and others of a struct are read by the NSCoding class of that name")
    func readByClass() throws {
        var encoder = KeyedArchiveEncoder()
        encoder.setClassName("KeyedArchiveTests.CodedTypes", for: FoundationTypes.self)
        let data = Data(try encoder.encode(FoundationTypes()).bytes)
        let object = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CodedTypes.self, from: data))
        let types = FoundationTypes()
        #expect(object.date == types.date && object.data == types.data && object.url == types.url)
        #expect(object.uuid == types.uuid && object.name == types.name && object.count == 7)
        #expect(object.ratio == 0.5 && object.isOn && object.tags == ["a", "b"])
    }

    @Test("and others of an NSCoding class are decoded as the struct of that name")
    func writtenByClass() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: CodedTypes(FoundationTypes()), requiringSecureCoding: true)
        var decoder = KeyedArchiveDecoder()
        decoder.setClass(FoundationTypes.self, forClassName: "KeyedArchiveTests.CodedTypes")
        #expect(try decoder.decode(FoundationTypes.self, from: data) == FoundationTypes())
    }

    @Test("can be read from property list dates too, and are refused if they are something else")
    func others() throws {
        #expect(
            try Date.decoded(#"{"$date":60.5}"#) == Date(timeIntervalSinceReferenceDate: 60.5))
        #expect(
            summary { _ = try Date.decoded("60.5") }
                == "mismatch at : Expected a date, found a real.")
        #expect(
            summary {
                _ = try [UUID].decoded(#"[{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AQ=="}}]"#)
            }
                == "mismatch at Index 0: Expected a UUID, found an object of class \"NSUUID\"."
        )
        #expect(
            try UUID.decoded("\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"").uuidString
                == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(
            summary { _ = try Data.decoded("\"AQ==\"") }
                == "mismatch at : Expected data, found a string.")
        #expect(
            summary { _ = try URL.decoded(#"{"$class":"NSURL","NS.base":null}"#) }
                == #"no key at : The object has no field "relative"."#)
        #expect(
            summary { _ = try URL.decoded("[]") }
                == "mismatch at : Expected a URL, found an object of class \"NSArray\".")
        #expect(
            summary { _ = try [Date?].decoded("[null,null,1]") }
                == "mismatch at Index 2: Expected a date, found an integer.")
    }

    @Test("keep their own coding if it differs, such as Decimal and URLComponents")
    func ownCoding() throws {
        let decoder = KeyedArchiveDecoder()
        let decimal = Decimal(string: "-123456789.000125") ?? 0
        #expect(try decoder.decode(Decimal.self, from: .encoding(decimal)) == decimal)
        var components = URLComponents()
        components.host = "example.org"
        #expect(try decoder.decode(URLComponents.self, from: .encoding(components)) == components)
        let range = 3..<7
        #expect(try decoder.decode(Range<Int>.self, from: .encoding(range)) == range)
        let interval = DateInterval(start: .distantPast, duration: 2)
        #expect(try decoder.decode(DateInterval.self, from: .encoding(interval)) == interval)
        let index = IndexSet([1, 2, 5])
        #expect(try decoder.decode(IndexSet.self, from: .encoding(index)) == index)
    }
}
