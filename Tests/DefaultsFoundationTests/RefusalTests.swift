import ArchiveTestSupport
import DefaultsFoundation
import Foundation
import KeyedArchive
import PropertyList
import Testing

@Suite("Decoding refuses")
struct RefusalTests {
    private func error(
        _ json: String, of classes: [AnyClass] = [Scripted.self],
        options: ObjectCodingOptions = ObjectCodingOptions(),
        _ script: @escaping @Sendable (NSCoder) -> Bool = { _ in true }
    ) throws -> ObjectCodingError {
        let archive = try KeyedArchive(json: json)
        return try Scripted.$script.withValue(script) {
            try #require(throws: ObjectCodingError.self) {
                try archive.decodeObject(of: classes, options: options)
            }
        }
    }

    @Test("classes that are not allowed in their place")
    func notAllowed() throws {
        #expect(try error(#""text""#).code == .classNotAllowed)
        #expect(try error(#"["text"]"#, of: [NSString.self]).code == .classNotAllowed)
        let nested = try error(
            #"["a",[{"$class":"NSNull"},{"$class":"Options"}]]"#, of: [NSArray.self])
        #expect(nested.code == .classNotFound && nested.path == ["root", "[1]", "[1]"])
        let field = try error(#"{"$class":"Scripted","f":["a"]}"#) { coder in
            coder.decodeObject(of: NSString.self, forKey: "f") == nil && coder.error != nil
        }
        #expect(field.code == .classNotAllowed && field.path == ["root", "f"])
        #expect(field.message.contains("'NSArray'"))
        #expect(field.byteOffset != nil)
    }

    @Test("classes that are unknown, not secure, or cannot be coded safely")
    func classes() throws {
        #expect(try error(#"{"$class":"No.Such"}"#).code == .classNotFound)
        #expect(try error(#"{"$class":"Insecure"}"#, of: [Insecure.self]).code == .notSecure)
        #expect(try error(#"{"$class":"Plain"}"#, of: [Plain.self]).code == .notSecure)
        for (name, allowed): (String, AnyClass) in [
            ("NSMeasurement", NSMeasurement.self), ("NSCharacterSet", NSCharacterSet.self),
            ("NSCalendar", NSCalendar.self), ("NSDecimalNumber", NSNumber.self),
            ("Title", Title.self),
        ] as [(String, AnyClass)] {
            let error = try error("{\"$class\":\"\(name)\"}", of: [allowed])
            #expect(error.code == .unsupportedClass, "\(name)")
        }
    }

    @Test("names that cannot be names of classes")
    func names() throws {
        for name in [
            "", ".", "a.b.c", "$s1a1bC", "_TtC1a1b", "4main3Foo", "Foo\u{0}", "a b", "é.ü",
        ] {
            let json = Array("{\"$class\":\"A\(name.replacing("\u{0}", with: "\\u0000"))\"}".utf8)
            let archive = try KeyedArchive(json: json)
            #expect(throws: ObjectCodingError.self) { try archive.decodeObject(of: Scripted.self) }
        }
    }

    @Test("unknown classes, without control characters in the message")
    func wordsOfForeignNames() throws {
        let bytes = Tree.archive(
            ["$class": .uid(2)],
            Tree.record(
                Text("A\u{1B}[31m\u{202E}\r\n\u{2028}" + String(repeating: "b", count: 200))))
        let error = #expect(throws: ObjectCodingError.self) {
            try KeyedArchive(validating: bytes).decodeObject(of: Scripted.self)
        }
        let name = "A\u{FFFD}[31m" + String(repeating: "\u{FFFD}", count: 4)
        #expect(error?.code == .classNotFound)
        #expect(error?.message.contains("'\(name)\(String(repeating: "b", count: 90))…'") == true)
    }

    @Test("more unknown classes than it looks up")
    func manyClasses() throws {
        let count: UInt64 = 6_000
        let hinted = (0..<count).map { number -> Tree in
            [
                "$classname": .text(Text("Unknown\(number)")), "$classes": ["NSObject"],
                "$classhints": ["Scripted"],
            ]
        }
        let objects = (0..<count).map { Tree.dictionary([("$class", .uid(2 + count + $0))]) }
        let references = Tree.array((0..<count).map { .uid(2 + $0) })
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null", references] + objects + hinted),
        ]
        let error = #expect(throws: ObjectCodingError.self) {
            try KeyedArchive(validating: archive.bytes(uidWidth: 2))
                .decodeObject(of: NSArray.self, allowing: [Scripted.self])
        }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("classes") == true)
    }

    /// Fields, how they are read, and what is wrong with that.
    static let fields: [(String, @Sendable (NSCoder) -> Void, ObjectCodingError.Code)] = [
        ("2", { _ = $0.decodeBool(forKey: "f") }, .wrongType),
        ("1.0", { _ = $0.decodeBool(forKey: "f") }, .wrongType),
        ("\"yes\"", { _ = $0.decodeBool(forKey: "f") }, .wrongType),
        ("true", { _ = $0.decodeInteger(forKey: "f") }, .wrongType),
        ("1.5", { _ = $0.decodeInteger(forKey: "f") }, .wrongType),
        ("2147483648", { _ = $0.decodeInt32(forKey: "f") }, .wrongType),
        ("2147483648", { _ = $0.decodeCInt(forKey: "f") }, .wrongType),
        ("9223372036854775808", { _ = $0.decodeInt64(forKey: "f") }, .wrongType),
        ("1e300", { _ = $0.decodeInt64(forKey: "f") }, .wrongType),
        ("{\"$real\":\"nan\"}", { _ = $0.decodeInteger(forKey: "f") }, .wrongType),
        ("9007199254740993", { _ = $0.decodeDouble(forKey: "f") }, .wrongType),
        ("true", { _ = $0.decodeDouble(forKey: "f") }, .wrongType),
        ("1e300", { _ = $0.decodeFloat(forKey: "f") }, .wrongType),
        ("16777217", { _ = $0.decodeFloat(forKey: "f") }, .wrongType),
        ("true", { _ = $0.decodeFloat(forKey: "f") }, .wrongType),
        ("1", { _ = $0.decodeObject(forKey: "f") }, .wrongType),
        (
            "{\"$bytes\":\"AQ==\"}", { _ = $0.decodeObject(of: NSData.self, forKey: "f") },
            .wrongType
        ),
        ("\"a\"", { $0.withDecodedUnsafeBytes(forKey: "f") { _ in } }, .wrongType),
        ("{\"$class\":\"Options\"}", { _ = $0.decodePropertyList(forKey: "f") }, .classNotFound),
        ("1", { $0.failWithError(CocoaError(.coderReadCorrupt)) }, .failed),
        ("1", { $0.encode(1, forKey: "f") }, .unsupportedCall),
        ("1", { $0.encode("x") }, .unsupportedCall),
    ]

    @Test("fields of another type, and numbers that do not fit", arguments: fields.indices)
    func field(_ number: Int) throws {
        let (field, read, code) = Self.fields[number]
        let error = try error(#"{"$class":"Scripted","f":\#(field)}"#) { coder in
            read(coder)
            // Nothing is read any more.
            return coder.error != nil && coder.decodeObject(forKey: "f") == nil
        }
        #expect(error.code == code, "\(field)")
    }

    @Test("an initializer that returns nil, and lists the missing fields")
    func initializer() throws {
        let error = try error(#"{"$class":"Scripted"}"#) { coder in
            coder.decodeObject(forKey: "name") != nil
        }
        #expect(error.code == .initializerFailed && error.path == ["root"])
        #expect(error.message.contains("'name'"))
        #expect("\(error)".contains("at root"))
    }

    @Test("missing fields only if the options say so")
    func missing() throws {
        let archive = try KeyedArchive(json: #"{"$class":"Options"}"#)
        let object = try archive.decodeObject(of: Options.self)
        #expect(object?.playsSound == false && object?.hint == nil)
        var options = ObjectCodingOptions()
        options.refusesMissingFields = true
        let error = try error(#"{"$class":"Options"}"#, of: [Options.self], options: options)
        #expect(error.code == .missingField && error.path == ["root", "playsSound"])
        let top = #expect(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: Options.self, forKey: "other")
        }
        #expect(top?.code == .missingField)
    }

    @Test("objects that contain themselves")
    func cycle() throws {
        let bytes = Tree.archive(
            ["$class": .uid(2), "NS.objects": [.uid(1)]], Tree.record("NSMutableArray", "NSArray"))
        let error = #expect(throws: ObjectCodingError.self) {
            try KeyedArchive(validating: bytes).decodeObject(of: NSArray.self)
        }
        #expect(error?.code == .cycle)
    }

    @Test("chains of objects that are too long, even on a small stack")
    func depth() throws {
        var objects: [Tree] = []
        for number in 0..<100_000 {
            objects.append(["$class": .uid(100_001), "friend": .uid(UInt64(number + 2))])
        }
        let people: Tree = .array(["$null"] + objects + [Tree.record("Person")])
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": people,
        ]
        let chain = try KeyedArchive(validating: archive.bytes(uidWidth: 4))
        for stackSize in [256 << 10, 2 << 20, 16 << 20] {
            let end = DispatchSemaphore(value: 0)
            let thread = Thread {
                let error = #expect(throws: ObjectCodingError.self) {
                    try chain.decodeObject(of: Person.self)
                }
                #expect(error?.code == .limitExceeded)
                end.signal()
            }
            thread.stackSize = stackSize
            thread.start()
            end.wait()
        }
    }

    @Test("archives with too many shared objects")
    func bombs() throws {
        var doubling: [Tree] = (0..<40).map { number in
            let next = Tree.uid(UInt64(number + 2))
            return ["$class": .uid(42), "NS.objects": [next, next]]
        }
        doubling += ["end", Tree.record("NSArray")]
        let archive: Tree = [
            "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + doubling),
        ]
        let error = #expect(throws: ObjectCodingError.self) {
            try KeyedArchive(validating: archive.bytes()).decodeObject(of: NSArray.self)
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("collections for which Foundation would trap")
    func collections() throws {
        let cases: [(String, AnyClass)] = [
            (#"[null]"#, NSArray.self),
            (#"{"$class":"NSSet","NS.objects":[["a"]]}"#, NSSet.self),
            (#"{"$class":"NSDictionary","NS.keys":[{}],"NS.objects":["v"]}"#, NSDictionary.self),
            (
                #"{"$class":"NSDictionary","NS.keys":["k","k"],"NS.objects":[1,2]}"#,
                NSDictionary.self
            ),
            (#"{"$class":"NSDictionary","NS.keys":["k"],"NS.objects":[null]}"#, NSDictionary.self),
            (#"{"$class":"NSArray","NS.objects":1}"#, NSArray.self),
            (#"{"$class":"NSUUID","NS.uuidbytes":{"$bytes":"AQ=="}}"#, NSUUID.self),
            (#"{"$class":"NSURL","NS.base":null,"NS.relative":""}"#, NSURL.self),
            (#"{"$class":"NSDate"}"#, NSDate.self),
            (#"{"$class":"NSDate","NS.time":{"$real":"nan"}}"#, NSDate.self),
            (#"{"$class":"NSError","NSCode":1}"#, NSError.self),
            (#"{"$class":"NSURLQueryItem"}"#, NSURLQueryItem.self),
            (#"{"$class":"NSNumber","f":1}"#, NSNumber.self),
            (#"{"$class":"NSCountedSet","NS.count":-1}"#, NSCountedSet.self),
            (#"{"$class":"NSCountedSet","NS.count":9223372036854775807}"#, NSCountedSet.self),
            (#""\ud800""#, NSString.self),
            ("170141183460469231731687303715884105727", NSNumber.self),
        ]
        for (json, allowed): (String, AnyClass) in cases {
            let archive = try KeyedArchive(json: json)
            #expect(throws: ObjectCodingError.self, "\(json)") {
                try archive.decodeObject(of: [allowed])
            }
        }
    }
}
