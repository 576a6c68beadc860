import ArchiveTestSupport
import Foundation
import KeyedArchive
import Testing

@Suite("Foundation")
struct FoundationTests {
    private func unarchive<Object: NSObject & NSSecureCoding>(
        _ json: String, as type: Object.Type, _ others: AnyClass...
    ) throws -> Object? {
        let archive = try KeyedArchive(json: json)
        let classes: [AnyClass] = [type] + others
        return try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: classes, from: Data(archive.bytes)) as? Object
    }

    @Test("reads the collections, strings and numbers that this module writes")
    func reads() throws {
        let json =
            #"["a",1,2.5,true,["é"],{"k":"v"},{"$data":"AQI="},{"$class":"NSDate","NS.time":60.0}]"#
        let array = try unarchive(
            json, as: NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self,
            NSDate.self)
        let expected: NSArray = [
            "a", 1, 2.5, true, ["é"], ["k": "v"], Data([1, 2]),
            Date(timeIntervalSinceReferenceDate: 60),
        ]
        #expect(array == expected)
    }

    @Test("reads the mutable classes and sets that this module writes")
    func readsMutable() throws {
        let array = try unarchive(
            #"{"$class":"NSMutableArray","NS.objects":["a"]}"#, as: NSMutableArray.self,
            NSString.self)
        #expect(array == NSMutableArray(object: "a"))
        let set = try unarchive(
            #"{"$class":"NSSet","NS.objects":["a","b"]}"#, as: NSSet.self, NSString.self)
        #expect(set == NSSet(array: ["a", "b"]))
    }

    @Test("writes archives that this module reads")
    func writes() throws {
        let value: NSArray = [
            "a", 1, 2.5, ["é": ["n"]] as NSDictionary, Data([1, 2]),
            Date(timeIntervalSinceReferenceDate: 60), NSSet(object: "s"), NSNull(),
            NSString(string: "\u{0}"),
        ]
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: value, requiringSecureCoding: true)
        let json = try KeyedArchive(validating: Array(data)).json()
        let expected =
            #"["a",1,2.5,{"é":["n"]},{"$data":"AQI="},{"$class":"NSDate","NS.time":60.0},"#
            + #"{"$class":"NSSet","NS.objects":["s"]},{"$class":"NSNull"},"\u0000"]"#
        #expect(json.text == expected)
    }
}
