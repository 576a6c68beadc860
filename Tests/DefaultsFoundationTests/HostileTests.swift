import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// A trap ends the whole run of the tests, so that nothing needs to be expected here.
@Suite("Hostile archives give an error or an object")
struct HostileTests {
    static let classes: [AnyClass] =
        FoundationInteropTests.classes + [
            Account.self, Options.self, Person.self, Insecure.self, Plain.self, Title.self,
        ]

    /// Makes the object, and uses it as a program would.
    @discardableResult
    static func tryEverything(_ bytes: [UInt8]) -> Bool {
        guard let archive = try? KeyedArchive(validating: bytes) else { return false }
        for key in ["root", "WebResourceResponse", "IB.objectdata"] {
            var options = ObjectCodingOptions()
            options.count = 10_000
            guard let object = try? archive.decodeObject(of: classes, forKey: key, options: options)
            else { continue }
            _ = object.description
            if !(object is NSError) { _ = object.hash }
            _ = object.isEqual(object)
            if let array = object as? NSArray { for element in array { _ = "\(element)" } }
            if let dictionary = object as? NSDictionary {
                for (key, value) in dictionary { _ = "\(key)\(value)" }
            }
            if let again = try? KeyedArchive(archiving: object) {
                #expect(throws: Never.self) { try again.decodeObject(of: classes) }
            }
            return true
        }
        return false
    }

    @Test("if they are cut at any byte", arguments: Fixtures.all.filter(\.isBinary))
    func cut(_ fixture: Fixtures.Fixture) {
        for count in Thoroughness.places(in: fixture.bytes.count) {
            Self.tryEverything(Array(fixture.bytes.prefix(count)))
        }
    }

    @Test("if any byte is changed", arguments: Fixtures.all.filter(\.isBinary))
    func changed(_ fixture: Fixtures.Fixture) {
        for position in Thoroughness.places(in: fixture.bytes.count) {
            let changes: [UInt8] = [0x01, 0x10]
            for change in Thoroughness.isWhole ? changes : [changes[position % 2]] {
                var bytes = fixture.bytes
                bytes[position] ^= change
                Self.tryEverything(bytes)
            }
        }
    }

    /// An archive whose every part is replaced by what does not belong there.
    struct Victim: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
    }

    static let victims: [Victim] = {
        var victims: [Victim] = []
        for sample in Sample.objects {
            guard let archive = try? KeyedArchive(archiving: sample.make()) else { continue }
            victims.append(Victim(testDescription: sample.testDescription, bytes: archive.bytes))
        }
        let people = [Person("Byron", children: [Person("Ada")])]
        for object in [Account(), Options(), people as NSArray] {
            guard let archive = try? KeyedArchive(archiving: object) else { continue }
            victims.append(Victim(testDescription: "\(type(of: object))", bytes: archive.bytes))
        }
        return victims
    }()

    /// Values of each type, the UIDs of an archive among them.
    static func strangers(uidCount: Int) -> [Tree] {
        let uids = (0..<uidCount).map { Tree.uid(UInt64($0)) }
        return uids + [
            true, 0, -1, .integer(Int128(Int64.min)), .integer(.max), 1e300, .real(.nan),
            .single(0.5), .date(.nan), .data([]), .data([UInt8](repeating: 0xFF, count: 16)), "",
            .text(Text(utf16: [0xD800])), [], .array(uids), .set([.uid(1)]), .orderedSet([.uid(1)]),
            ["k": .uid(1)],
        ]
    }

    @Test("if all objects have a field with the same long name")
    func longFieldName() throws {
        let count = 40_000
        var writer = PropertyListWriter()
        let classKey = writer.add(string: "$class")
        let name = writer.add(string: Text(String(repeating: "x", count: 2_000_000)))
        let values = [writer.add(uid: 2), writer.add(integer: 7)]
        let references = (0..<count).map { writer.add(uid: UInt64(3 + $0)) }
        let record = writer.add(
            keys: ["$classname", "$classes"].map { writer.add(string: $0) },
            values: [writer.add(string: "Scripted"), writer.add(array: [])])
        // Each an object of its own, though one in the property list.
        let object = writer.add(keys: [classKey, name], values: values)
        let objects = [writer.add(string: "$null"), writer.add(array: references), record]
        let root = writer.add(
            keys: ["$version", "$archiver", "$top", "$objects"].map { writer.add(string: $0) },
            values: [
                writer.add(integer: 100_000), writer.add(string: "NSKeyedArchiver"),
                writer.add(keys: [writer.add(string: "root")], values: [writer.add(uid: 1)]),
                writer.add(array: objects + Array(repeating: object, count: count)),
            ])
        let archive = try KeyedArchive(validating: writer.finish(root: root))
        let array = try Scripted.$script.withValue({ !$0.containsValue(forKey: "y") }) {
            try archive.decodeObject(of: NSArray.self, allowing: [Scripted.self])
        }
        #expect(array?.count == count)
    }

    @Test("if any part is replaced by any other", arguments: victims)
    func replaced(_ victim: Victim) throws {
        let list = try PropertyList(victim.bytes)
        let tree = Tree(list.root, of: list)
        let strangers = Self.strangers(uidCount: 5)
        let paths = tree.paths.filter { $0.first == "$objects" && !$0.contains("$classes") }
        var count = 0
        for place in Thoroughness.places(in: paths.count * strangers.count) {
            let path = paths[place / strangers.count][...]
            let stranger = strangers[place % strangers.count]
            if Self.tryEverything(tree.replacing(path, by: stranger).bytes()) { count += 1 }
        }
        for path in paths { Self.tryEverything(tree.removing(path[...]).bytes()) }
        // Where no archive gave an object, the changes would test nothing.
        #expect(count > 0)
    }
}
