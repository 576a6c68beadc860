import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import Testing

@Suite("Index sets, structs, intervals and attributed strings")
struct ValueClassTests {
    /// Objects, and the archives that programs of macOS make of them.
    static let forms: [(Sample, String)] = [
        (
            Sample("no index") { NSIndexSet() },
            #"{"$class":"NSIndexSet","NSRangeCount":0}"#
        ),
        (
            Sample("one range") { NSIndexSet(indexesIn: NSRange(location: 5, length: 300)) },
            #"{"$class":"NSIndexSet","NSLength":300,"NSLocation":5,"NSRangeCount":1}"#
        ),
        (
            Sample("several ranges") { NSMutableIndexSet(indexSet: IndexSet([1, 300, 5000])) },
            #"{"$class":"NSMutableIndexSet","NSRangeCount":3,"NSRangeData":{"$data":"AQGsAgGIJwE="}}"#
        ),
        (
            Sample("point") { NSValue(point: NSPoint(x: 1, y: -0.5)) },
            #"{"$class":"NSValue","NS.pointval":"{1, -0.5}","NS.special":1}"#
        ),
        (
            Sample("size") { NSValue(size: NSSize(width: 1, height: 2)) },
            #"{"$class":"NSValue","NS.sizeval":"{1, 2}","NS.special":2}"#
        ),
        (
            Sample("rectangle") { NSValue(rect: NSRect(x: 1, y: 2, width: 3, height: 4.25)) },
            #"{"$class":"NSValue","NS.rectval":"{{1, 2}, {3, 4.25}}","NS.special":3}"#
        ),
        (
            Sample("range") { NSValue(range: NSRange(location: 1, length: 2)) },
            #"{"$class":"NSValue","NS.rangeval.length":{"$class":"NSNumber","$value":2},"#
                + #""NS.rangeval.location":{"$class":"NSNumber","$value":1},"NS.special":4}"#
        ),
        (
            Sample("attributed text") {
                let text = NSMutableAttributedString(string: "ab")
                text.setAttributes([.size: 1], range: NSRange(location: 1, length: 1))
                return text
            },
            #"{"$class":"NSMutableAttributedString","NSAttributeInfo":{"$data":"AQABAQ=="},"#
                + #""NSAttributes":[{},{"Size":1}],"NSString":"ab"}"#
        ),
    ]

    @Test("have the form of macOS in archives", arguments: forms.indices)
    func written(_ number: Int) throws {
        let (sample, json) = Self.forms[number]
        let written = try KeyedArchive(archiving: sample.make()).json().text
        #expect(written == json)
    }

    @Test("are read in the form of macOS", arguments: forms.indices)
    func read(_ number: Int) throws {
        let (sample, json) = Self.forms[number]
        let object = try KeyedArchive(json: json).decodeObject(of: FoundationInteropTests.classes)
        #expect(sample.isSame(try #require(object)))
    }

    @Test("are read in other forms that archivers write")
    func otherForms() throws {
        func object(_ json: String) throws -> NSObject? {
            try KeyedArchive(json: json).decodeObject(of: FoundationInteropTests.classes)
        }
        let point = try object(
            #"{"$class":"NSValue","NS.special":1,"NS.pointval":"{x = 1; y = -2e3}"}"#)
        #expect((point as? NSValue)?.pointValue == NSPoint(x: 1, y: -2000))
        let text = try object(
            #"{"$class":"NSAttributedString","NSString":"ab","NSAttributes":{"Size":1}}"#)
        #expect(text == NSAttributedString(string: "ab", attributes: [.size: 1]))
        #expect(
            try object(#"{"$class":"NSAttributedString","NSString":"ab"}"#)
                == NSAttributedString(string: "ab"))
        let interval = try object(
            #"{"$class":"NSDateInterval","NS.startDate":{"$class":"NSDate","NS.time":1.0},"#
                + #""NS.endDate":{"$class":"NSDate","NS.time":3.5}}"#)
        #expect((interval as? NSDateInterval)?.duration == 2.5)
        let date = try object(#"{"$class":"NSDate","NS.time":3}"#)
        #expect(date == NSDate(timeIntervalSinceReferenceDate: 3))
        let set = try object(
            #"{"$class":"NSIndexSet","NSRangeCount":1.0,"NSLocation":2.0,"NSLength":3.0}"#)
        #expect(set == NSIndexSet(indexesIn: NSRange(location: 2, length: 3)))
    }

    @Test("allow the classes of attributes that the caller allows, and those of links")
    func attributes() throws {
        let text = NSAttributedString(
            string: "a", attributes: [.link: Account(), .size: URL(filePath: "/u") as NSURL])
        let archive = try KeyedArchive(archiving: text)
        let error = #expect(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: NSAttributedString.self)
        }
        #expect(error?.code == .classNotAllowed)
        #expect(error?.path.prefix(2) == ["root", "NSAttributes"])
        let read = try archive.decodeObject(of: NSAttributedString.self, allowing: [Account.self])
        let account = read?.attribute(.link, at: 0, effectiveRange: nil)
        #expect(account as? Account == Account())
    }

    /// Archives for which Foundation would trap, or make an object that does.
    static let hostile: [String] = [
        #"{"$class":"NSIndexSet","NSRangeCount":-1}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":9223372036854775807}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":9223372036854775807,"NSRangeData":{"$data":"AQE="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":1}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":1,"NSLocation":5,"NSLength":-1}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":1,"NSLocation":-5,"NSLength":1}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":1,"NSLocation":9223372036854775807,"NSLength":1}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":1,"NSLocation":1,"NSLength":9223372036854775807}"#,
        // Cut off; too large for an integer; a pair that is not complete; overlapping; descending.
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"AQEFgQ=="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"AQEF/////////////38="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"AQEF"}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"AQUDAQ=="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"CQEBAQ=="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":2,"NSRangeData":{"$data":"AQEFAA=="}}"#,
        #"{"$class":"NSIndexSet","NSRangeCount":3,"NSRangeData":{"$data":"AQEFAQ=="}}"#,
        #"{"$class":"NSValue"}"#,
        #"{"$class":"NSValue","NS.special":12}"#,
        #"{"$class":"NSValue","NS.special":1}"#,
        #"{"$class":"NSValue","NS.special":1,"NS.pointval":"{1}"}"#,
        #"{"$class":"NSValue","NS.special":1,"NS.pointval":"{1, 2, 3}"}"#,
        #"{"$class":"NSValue","NS.special":3,"NS.rectval":"{{1, 2}, {3, a}}"}"#,
        #"{"$class":"NSValue","NS.special":4,"NS.rangeval.location":-1,"NS.rangeval.length":1}"#,
        #"{"$class":"NSValue","NS.special":4,"NS.rangeval.location":1,"NS.rangeval.length":-1}"#,
        #"{"$class":"NSValue","NS.special":4,"NS.rangeval.location":9223372036854775807,"#
            + #""NS.rangeval.length":1}"#,
        #"{"$class":"NSValue","NS.special":4,"NS.rangeval.location":1e300,"NS.rangeval.length":1}"#,
        #"{"$class":"NSDateInterval"}"#,
        #"{"$class":"NSDateInterval","NS.startDate":{"$class":"NSDate","NS.time":1.0}}"#,
        #"{"$class":"NSDateInterval","NS.startDate":{"$class":"NSDate","NS.time":1.0},"#
            + #""NS.duration":-1.0}"#,
        #"{"$class":"NSDateInterval","NS.startDate":{"$class":"NSDate","NS.time":1.0},"#
            + #""NS.duration":{"$real":"nan"}}"#,
        // Too long a run, one without a length, too short in all, an unknown number, no runs at all,
        // a cut integer, names that are not texts, and attributes that are no dictionaries.
        text(info: "AwA=", [#"{}"#]), text(info: "AAACAA==", [#"{}"#]),
        text(info: "AQA=", [#"{}"#]),
        text(info: "AgE=", [#"{}"#]), text(info: "", [#"{}"#]), text(info: "AgCB", [#"{}"#]),
        text(info: "gYCAgICAgICAgAE=", [#"{}"#]), text(info: "AgA=", []),
        text(info: "AgA=", [#"{"$class":"NSDictionary","NS.keys":[1],"NS.objects":[2]}"#]),
        text(info: "AgA=", ["1"]),
        #"{"$class":"NSAttributedString","NSString":"ab","NSAttributes":"a"}"#,
        #"{"$class":"NSAttributedString","NSString":"ab","NSAttributes":[{},{}]}"#,
        #"{"$class":"NSAttributedString","NSString":"\ud800"}"#,
        #"{"$class":"NSAttributedString","NSString":1}"#,
    ]

    private static func text(info: String, _ attributes: [String]) -> String {
        #"{"$class":"NSAttributedString","NSString":"ab","NSAttributeInfo":{"$data":"\#(info)"},"#
            + #""NSAttributes":[\#(attributes.joined(separator: ","))]}"#
    }

    @Test("are refused if their fields are not those of one", arguments: hostile.indices)
    func refusal(_ number: Int) throws {
        let archive = try KeyedArchive(json: Self.hostile[number])
        #expect(throws: ObjectCodingError.self, "\(Self.hostile[number])") {
            try archive.decodeObject(of: FoundationInteropTests.classes)
        }
    }

    @Test("are refused if an attributed string is its own attribute")
    func cycle() throws {
        let bytes = Tree.archive(
            ["$class": .uid(2), "NSString": .uid(3), "NSAttributes": .uid(4)],
            Tree.record("NSAttributedString"), "a",
            ["$class": .uid(5), "NS.keys": [.uid(3)], "NS.objects": [.uid(1)]],
            Tree.record("NSDictionary"))
        let error = #expect(throws: ObjectCodingError.self) {
            try KeyedArchive(validating: bytes).decodeObject(of: NSAttributedString.self)
        }
        #expect(error?.code == .cycle)
    }

    @Test("are refused if many runs share large attributes")
    func bomb() throws {
        let count = 10_000
        let text = String(repeating: "a", count: count)
        let info = Data(Array(repeating: [1, 0], count: count).joined()).base64EncodedString()
        let list = Array(repeating: "1", count: 1000).joined(separator: ",")
        let json =
            #"{"$class":"NSAttributedString","NSString":"\#(text)","#
            + #""NSAttributeInfo":{"$data":"\#(info)"},"NSAttributes":[{"List":[\#(list)]}]}"#
        let archive = try KeyedArchive(json: json)
        let error = #expect(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: NSAttributedString.self)
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("may have many ranges")
    func manyRanges() throws {
        let set = NSMutableIndexSet()
        for number in 0..<50_000 { set.add(in: NSRange(location: 3 * number, length: 2)) }
        let archive = try KeyedArchive(archiving: set)
        #expect(try archive.decodeObject(of: NSIndexSet.self)?.isEqual(set) == true)
    }

    @Test("that hold another struct are refused with advice")
    func structs() throws {
        let value = NSValue(bytes: [Int32(1)], objCType: "i")
        let written = #expect(throws: ObjectCodingError.self) { try KeyedArchive(archiving: value) }
        #expect(written?.message.contains("C type 'i'") == true)
        let archive = try KeyedArchive(json: #"{"$class":"NSValue","$0":"i","$1":1}"#)
        let read = #expect(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: NSValue.self)
        }
        for error in [written, read] {
            #expect(error?.message.contains("each in a field of its own") == true)
        }
    }
}
