import TestSupport
import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import TestTiers
import Testing

@Suite("Archiving objects", .startsPrograms)
struct ArchivingTests {
    @Test("gives an object table that Python can read")
    func table() throws {
        let program = """
            import plistlib, sys
            archive = plistlib.loads(sys.stdin.buffer.read())
            assert list(archive) == ["$version", "$archiver", "$top", "$objects"]
            print(archive["$top"], *archive["$objects"], sep="\\n")
            """
        let administrator = Administrator()
        administrator.avatar = nil
        let archive = try KeyedArchive(archiving: administrator)
        let expected = [
            "{'root': UID(1)}", "$null",
            "{'$class': UID(9), 'age': 36, 'avatar': UID(0), 'balance': 0.1, 'birthday': UID(2), "
                + "'isActive': True, 'level': 3, 'ratio': 0.5, 'tags': UID(4), "
                + "'token': b'\\x01\\x02\\x03', 'total': 9223372036854775807, "
                + "'username': UID(8), 'visits': -7}",
        ]
        let lines = String(
            decoding: try Python.run(program, input: archive.bytes), as: UTF8.self
        ).split(separator: "\n").map(String.init)
        #expect(Array(lines.prefix(3)) == expected)
        #expect(
            lines.last
                == "{'$classname': 'DefaultsFoundationTests.Administrator', '$classes': "
                + "['DefaultsFoundationTests.Administrator', 'DefaultsFoundationTests.Account', "
                + "'NSObject']}")
    }

    @Test("gives the same bytes as the value form of the objects", arguments: Sample.all)
    func sameAsValues(_ sample: Sample) throws {
        let archive = try KeyedArchive(archiving: sample.make())
        guard !sample.testDescription.contains("mutable"), sample.testDescription != "empty set",
            let again = try? KeyedArchive(json: archive.json())
        else { return }
        #expect(again.bytes == archive.bytes)
    }

    @Test("orders sets and dictionaries by their contents, however they were made")
    func order() throws {
        let names = (0..<50).map { "name \($0)" }
        func archive(_ names: [String]) throws -> [UInt8] {
            let people = names.map { name in Person(name, children: [Person("child of \(name)")]) }
            let sets = NSSet(array: names.map { Set([$0, "x", "y"]) })
            let keys = Dictionary(uniqueKeysWithValues: names.map { ($0, $0.count) })
            return try KeyedArchive(archiving: [NSSet(array: people), sets, keys, Set(names)]).bytes
        }
        let bytes = try archive(names)
        var random = SeededGenerator()
        for _ in 0..<5 { #expect(try archive(names.shuffled(using: &random)) == bytes) }
        let json = try KeyedArchive(archiving: Set([10, 9, -1])).json().text
        #expect(json == #"{"$class":"NSSet","NS.objects":[-1,9,10]}"#)
    }

    @Test("uses the class names that are set, and finds classes by them")
    func names() throws {
        var options = ObjectCodingOptions()
        options.classNames.omitsModules = true
        options.classNames.setName("Preferences", for: Options.self)
        let archive = try KeyedArchive(archiving: [Options(), Account()], options: options)
        let json = try archive.json().text
        #expect(json.contains(#""$class":"Preferences""#) && json.contains(#""$class":"Account""#))
        #expect(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: NSArray.self, allowing: [Options.self, Account.self])
        }
        options.classNames.setClass(Options.self, forName: "Preferences")
        let again = try archive.decodeObject(
            of: NSArray.self, allowing: [Options.self, Account.self], options: options)
        #expect(again?.count == 2)

        let plain = try KeyedArchive(json: #"{"$class":"Administrator","username":"x"}"#)
        #expect(try plain.decodeObject(of: Account.self) is Administrator)
        let nested = try KeyedArchive(archiving: Outer.Inner())
        #expect(try nested.json().text == #"{"$class":"DefaultsFoundationTests.Outer.Inner"}"#)
        #expect(try nested.decodeObject(of: Outer.Inner.self) != nil)
    }

    @Test("decodes the substitute class that an archive names")
    func hints() throws {
        let record: Tree = [
            "$classname": "Unknown", "$classes": ["Unknown", "NSObject"],
            "$classhints": ["Options"],
        ]
        let archive = try KeyedArchive(
            validating: Tree.archive(["$class": .uid(2), "playsSound": true], record))
        #expect(try archive.decodeObject(of: Options.self)?.playsSound == true)
    }

    @Test("does so for any number of objects of one unknown class")
    func hintOfManyObjects() throws {
        let count: UInt64 = 20_000
        let record: Tree = [
            "$classname": "Unknown", "$classes": ["Unknown", "NSObject"],
            "$classhints": ["Options"],
        ]
        let objects = Array(repeating: Tree.dictionary([("$class", .uid(2))]), count: Int(count))
        let references = Tree.array((0..<count).map { .uid(3 + $0) })
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null", references, record] + objects),
        ]
        let array = try KeyedArchive(validating: archive.bytes(uidWidth: 2))
            .decodeObject(of: NSArray.self, allowing: [Options.self])
        #expect(array?.count == Int(count))
    }

    @Test("writes the object that replaces another")
    func replacement() throws {
        #expect(try KeyedArchive(archiving: Stand("other")).json().text == #""other""#)
        #expect(try KeyedArchive(archiving: Stand(nil)).json().text == "null")
        let shared = Stand(Options())
        let archive = try KeyedArchive(archiving: [shared, shared, shared.other as Any])
        let again = try archive.decodeObject(of: NSArray.self, allowing: [Options.self])
        let options = try #require(again as? [Options])
        #expect(options[0] === options[1] && options[1] === options[2])
    }

    @Test("does not recurse, however deeply the objects are nested")
    func depth() throws {
        var person = Person("end")
        for _ in 0..<50_000 {
            let next = Person("next")
            next.friend = person
            person = next
        }
        let archive = try KeyedArchive(archiving: person)
        #expect(archive.bytes.count > 50_000)
        // One after the other, since freeing them as a chain recurses.
        while let next = person.friend {
            person.friend = nil
            person = next
        }
    }

    /// What cannot be archived, and the way to it.
    static let refused: [(@Sendable () -> Any, ObjectCodingError.Code, [String])] = [
        ({ Plain() }, .notSecure, ["root"]),
        ({ Insecure() }, .notSecure, ["root"]),
        ({ ["a", Plain()] as [Any] }, .notSecure, ["root", "[1]"]),
        ({ Calendar.current as NSCalendar }, .unsupportedClass, ["root"]),
        ({ [Calendar.current] }, .unsupportedClass, ["root", "[0]"]),
        ({ NSValue(bytes: [Int32(1)], objCType: "i") }, .notEncodable, ["root"]),
        ({ NSValue(range: NSRange(location: -1, length: 2)) }, .badObject, ["root"]),
        ({ NSValue(range: NSRange(location: 2, length: .max)) }, .badObject, ["root"]),
        (
            { NSAttributedString(string: "a", attributes: [.link: Plain()]) }, .notSecure,
            ["root", "NSAttributes", "[0]"]
        ),
        ({ Decimal(1) }, .notEncodable, ["root"]),
        ({ 1...2 }, .notEncodable, ["root"]),
        ({ Scripted { $0.encode(Plain(), forKey: "f") } }, .notSecure, ["root", "f"]),
        (
            {
                Scripted {
                    $0.encode(1, forKey: "f")
                    $0.encode("x", forKey: "f")
                }
            }, .duplicateField, ["root", "f"]
        ),
        ({ Scripted { _ = $0.decodeInteger(forKey: "f") } }, .unsupportedCall, ["root"]),
        ({ Scripted { $0.failWithError(CocoaError(.coderInvalidValue)) } }, .failed, ["root"]),
    ]

    @Test("refuses objects that it cannot write, and says where", arguments: refused.indices)
    func refusal(_ number: Int) throws {
        let (make, code, path) = Self.refused[number]
        let error = #expect(throws: ObjectCodingError.self) { try KeyedArchive(archiving: make()) }
        #expect(error?.code == code)
        #expect(error?.path == path)
    }

    @Test("keeps keys that begin with a dollar sign, and values without a key")
    func keys() throws {
        let object = Scripted { coder in
            coder.encode(true, forKey: "$class")
            var (small, large, flag) = (Int32(-1), UInt64.max, true)
            coder.encodeValue(ofObjCType: "i", at: &small)
            coder.encodeValue(ofObjCType: "Q", at: &large)
            coder.encodeValue(ofObjCType: "B", at: &flag)
            coder.encode("object")
            coder.encode(Data([1]))
            coder.encode(CGRect(x: 1, y: 2, width: 3, height: 4), forKey: "rect")
        }
        let archive = try KeyedArchive(archiving: object)
        let script: @Sendable (NSCoder) -> Bool = { coder in
            var (small, large, flag) = (Int32(0), UInt64(0), false)
            coder.decodeValue(ofObjCType: "i", at: &small)
            coder.decodeValue(ofObjCType: "Q", at: &large)
            coder.decodeValue(ofObjCType: "B", at: &flag)
            return coder.decodeBool(forKey: "$class") && small == -1 && large == .max && flag
                && coder.decodeObject() as? String == "object" && coder.decodeData() == Data([1])
                && coder.decodeRect(forKey: "rect") == CGRect(x: 1, y: 2, width: 3, height: 4)
                && coder.containsValue(forKey: "rect") && !coder.containsValue(forKey: "none")
        }
        let again = try Scripted.$script.withValue(script) {
            try archive.decodeObject(of: Scripted.self)
        }
        #expect(again != nil)
    }
}
