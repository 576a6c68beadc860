import DefaultsFoundation
import Foundation
import KeyedArchive
import TestTiers
import Testing

@Suite("Archives that are exchanged with Foundation's archiver", .startsPrograms)
struct FoundationInteropTests {
    static let classes: [AnyClass] = [
        NSString.self, NSNumber.self, NSData.self, NSDate.self, NSNull.self,
        NSURL.self, NSUUID.self, NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self,
        NSError.self, NSURLQueryItem.self, NSTimeZone.self, NSLocale.self,
        NSPersonNameComponents.self, NSDateComponents.self, NSIndexSet.self, NSValue.self,
        NSDateInterval.self, NSAttributedString.self,
    ]

    // It reads every interval, its own too, with a duration of 0.
    @Test(
        "can be read by it", arguments: Sample.all.filter { $0.testDescription != "interval" })
    func written(_ sample: Sample) throws {
        let archive = try KeyedArchive(archiving: sample.make())
        let object = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: Self.classes, from: archive.data)
        #expect(sample.isSame(try #require(object as? NSObject)))
    }

    /// Whether Foundation archives something else, or traps: it writes the string "$null" as nil,
    /// and has no hash for errors.
    private static func isLost(_ sample: Sample) -> Bool {
        sample.testDescription == "text like nil" || sample.make() is NSError
    }

    @Test("can be read if it wrote them", arguments: Sample.all.filter { !isLost($0) })
    func read(_ sample: Sample) throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: sample.make(), requiringSecureCoding: true)
        let object = try KeyedArchive(validating: data).decodeObject(of: Self.classes)
        #expect(sample.isSame(try #require(object)))
    }

    @Test("can have objects of the user's classes, written here")
    func writtenAccounts() throws {
        let account = Administrator()
        let archive = try KeyedArchive(archiving: account)
        let object = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [Administrator.self, NSArray.self, NSString.self], from: archive.data)
        #expect(object as? Administrator == account)

        let options = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: Options.self, from: KeyedArchive(archiving: Options()).data)
        #expect(options?.playsSound == true)
        #expect(options?.hint == "unkeyed")

        let byron = Person("Byron", children: [Person("Ada")])
        byron.children.append(byron.children[0])
        byron.children[0].parent = nil
        let person = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: Person.self, from: KeyedArchive(archiving: byron).data)
        #expect(person?.children.map(\.name) == ["Ada", "Ada"])
        #expect(person?.children[0] === person?.children[1])
    }

    @Test("can have objects of the user's classes, written by it")
    func readAccounts() throws {
        let account = Administrator()
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: account, requiringSecureCoding: true)
        let archive = try KeyedArchive(validating: data)
        #expect(try archive.decodeObject(of: Account.self) == account)

        let options = try NSKeyedArchiver.archivedData(
            withRootObject: Options(), requiringSecureCoding: true)
        let again = try KeyedArchive(validating: options).decodeObject(of: Options.self)
        #expect(again?.playsSound == true && again?.isFullScreen == false)
        #expect(again?.hint == "unkeyed")
    }
}
