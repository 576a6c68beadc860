import DefaultsClient
import DefaultsFoundation
import Foundation
import KeyedArchive
import Testing

/// The table of DefaultsFoundation's page about Foundation's values: what each row promises.
@Suite("Foundation's values in defaults")
struct ValueTableTests {
    private static func calendar() -> Calendar {
        var calendar = Calendar(identifier: .hebrew)
        calendar.firstWeekday = 2
        return calendar
    }

    static let checks: [String: @Sendable (TableRow) throws -> Void] = [
        "indexes": { row in
            let set = IndexSet([1, 2, 300])
            try row.keeps(set, by: DefaultsKey("V", default: IndexSet()))
            try row.keeps(set as NSIndexSet, ofClass: NSIndexSet.self)
        },
        "a range": { row in
            let range = NSRange(location: 3, length: 4)
            try row.keeps(range, by: DefaultsKey("V", default: NSRange()))
            try row.keeps(NSValue(range: range), ofClass: NSValue.self)
        },
        "a point, a size, a rectangle": { row in
            let rectangle = CGRect(x: 1, y: 2.5, width: 3, height: 4)
            try row.keeps(rectangle, by: DefaultsKey("V", default: .zero))
            try row.keeps(rectangle.origin, by: DefaultsKey("V", default: .zero))
            try row.keeps(rectangle.size, by: DefaultsKey("V", default: .zero))
            try row.keeps(NSValue(rect: rectangle), ofClass: NSValue.self)
            try row.keeps(NSValue(point: rectangle.origin), ofClass: NSValue.self)
            try row.keeps(NSValue(size: rectangle.size), ofClass: NSValue.self)
        },
        "another C struct": { row in
            #expect(row.object.hasPrefix("`NSValue` is refused"))
            let key = DefaultsKey("V", ofClass: NSValue.self)
            let error = #expect(throws: DefaultsError.self) {
                try Defaults.inMemory().set(NSValue(bytes: [1.5], objCType: "d"), for: key)
            }
            #expect(error?.message.contains("NSValue") == true)
            #expect(error?.message.contains("Store the numbers") == true)
        },
        "an attributed string": { row in
            #expect(!(AttributedString("a") is any Encodable))
            let text = NSMutableAttributedString(string: "title")
            text.setAttributes([.size: 1], range: NSRange(location: 2, length: 2))
            try row.keeps(
                NSAttributedString(attributedString: text), ofClass: NSAttributedString.self)
        },
        "a locale": { row in
            let locale = Locale(identifier: "de_AT")
            try row.keeps(locale, by: DefaultsKey("V", default: .current))
            try row.keeps(locale as NSLocale, ofClass: NSLocale.self)
        },
        "a time zone": { row in
            let zone = try #require(TimeZone(identifier: "Europe/Vienna"))
            try row.keeps(zone, by: DefaultsKey("V", default: .gmt))
            try row.keeps(zone as NSTimeZone, ofClass: NSTimeZone.self)
        },
        "a calendar": { row in
            try row.keeps(calendar(), by: DefaultsKey("V", default: .current))
            try row.refuses(calendar() as NSCalendar, ofClass: NSCalendar.self)
        },
        "components of a date": { row in
            let date = DateComponents(calendar: calendar(), year: 2001, month: 2)
            try row.keeps(date, by: DefaultsKey("V", default: DateComponents()))
            let plain = DateComponents(year: 2001, month: 2)
            try row.keeps(plain as NSDateComponents, ofClass: NSDateComponents.self)
            let key = DefaultsKey("V", ofClass: NSDateComponents.self)
            let error = #expect(throws: DefaultsError.self) {
                try Defaults.inMemory().set(date as NSDateComponents, for: key)
            }
            #expect(row.object.hasSuffix("without a calendar"))
            let cause = error?.underlyingError as? ObjectCodingError
            #expect(cause?.code == .unsupportedClass && cause?.message.contains("Calendar") == true)
        },
        "an interval": { row in
            let interval = DateInterval(
                start: Date(timeIntervalSinceReferenceDate: 1), duration: 2.5)
            try row.keeps(interval, by: DefaultsKey("V", default: DateInterval()))
            try row.keeps(interval as NSDateInterval, ofClass: NSDateInterval.self) {
                $0 as DateInterval == $1 as DateInterval
            }
        },
        "a measurement": { row in
            let length = Measurement(value: 3, unit: UnitLength.miles)
            let zero = Measurement(value: 0, unit: UnitLength.meters)
            try row.keeps(length, by: DefaultsKey("V", default: zero))
            let object = NSMeasurement(doubleValue: 3, unit: UnitLength.miles)
            try row.refuses(object, ofClass: NSMeasurement.self)
        },
        "a URL": { row in
            let url = try #require(URL(string: "https://example.org/a?b#c"))
            try row.keeps(url, by: DefaultsKey("V", default: URL(filePath: "/")))
            try row.keeps(url as NSURL, ofClass: NSURL.self)
        },
        "components of a URL": { row in
            let url = try #require(URLComponents(string: "https://u@example.org:80/a?b#c"))
            try row.keeps(url, by: DefaultsKey("V", default: URLComponents()))
        },
        "a bookmark of a URL": { row in
            try row.keeps(Data([1, 2]), by: DefaultsKey("V", default: Data()))
        },
        "characters": { row in
            let set = CharacterSet(charactersIn: "aé😀")
            try row.keeps(set, by: DefaultsKey("V", default: CharacterSet()))
            try row.keeps(set.inverted, by: DefaultsKey("V", default: CharacterSet()))
            try row.keeps(CharacterSet(), by: DefaultsKey("V", default: set))
            try row.refuses(set as NSCharacterSet, ofClass: NSCharacterSet.self)
        },
        "a decimal number": { row in
            let number = try #require(Decimal(string: "-1.05"))
            try row.keeps(number, by: DefaultsKey("V", default: 0))
            try row.refuses(NSDecimalNumber(decimal: number), ofClass: NSDecimalNumber.self)
        },
        "a name of a person": { row in
            var name = PersonNameComponents()
            name.givenName = "Ada"
            try row.keeps(name, by: DefaultsKey("V", default: PersonNameComponents()))
            try row.keeps(name as NSPersonNameComponents, ofClass: NSPersonNameComponents.self)
        },
        "an ordered set": { row in
            try row.keeps(NSOrderedSet(array: ["b", "a"]), ofClass: NSOrderedSet.self)
        },
        "an error": { row in
            try row.keeps(NSError(domain: "d", code: 1), ofClass: NSError.self)
        },
        "a UUID": { row in
            let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
            let other = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000000"))
            try row.keeps(uuid, by: DefaultsKey("V", default: other))
            try row.keeps(uuid as NSUUID, ofClass: NSUUID.self)
        },
        "a path of indexes": { row in
            try row.keeps(IndexPath(indexes: [1, 2]), by: DefaultsKey("V", default: IndexPath()))
            try row.refuses(NSIndexPath(index: 1), ofClass: NSIndexPath.self)
        },
        "a regular expression": { row in
            let expression = try NSRegularExpression(pattern: "a+")
            try row.refuses(expression, ofClass: NSRegularExpression.self)
        },
        "an affine transformation": { row in
            let transform = AffineTransform(translationByX: 1, byY: 2)
            try row.keeps(transform, by: DefaultsKey("V", default: .identity))
            try row.refuses(
                NSAffineTransform(transform: transform), ofClass: NSAffineTransform.self)
        },
    ]

    /// The rows of the page.
    private static func table() throws -> [TableRow] {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/DefaultsFoundation/DefaultsFoundation.docc/ValuesOfFoundation.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let table = lines.drop { !$0.hasPrefix("| Value |") }.prefix { $0.hasPrefix("|") }
        return table.dropFirst(2).compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells.count == 3
                ? TableRow(value: cells[0], codable: cells[1], object: cells[2]) : nil
        }
    }

    @Test("have a row for each check, and a check for each row")
    func rows() throws {
        #expect(try Self.table().map(\.value).sorted() == Self.checks.keys.sorted())
    }

    @Test("do what the table says", arguments: checks.keys.sorted())
    func row(_ value: String) throws {
        let row = try #require(try Self.table().first { $0.value == value })
        try Self.checks[value]?(row)
    }

    /// What Foundation would trap for, or read outside of the bytes.
    static let hostile: [(any CheckedCodable.Type, String)] = [
        (IndexSet.self, #"{"$class":"IndexSet","indexes":[{"location":5,"length":-1}]}"#),
        (IndexSet.self, #"{"$class":"IndexSet","indexes":[{"location":-5,"length":1}]}"#),
        (
            IndexSet.self,
            #"{"$class":"IndexSet","indexes":[{"location":9223372036854775807,"length":1}]}"#
        ),
        (
            IndexSet.self,
            #"{"$class":"IndexSet","indexes":[{"location":5,"length":1},{"location":2,"length":4}]}"#
        ),
        (IndexSet.self, #"{"$class":"IndexSet","indexes":[{"location":1e300,"length":1}]}"#),
        (URLComponents.self, #"{"$class":"URLComponents","port":-1}"#),
        (URLComponents.self, #"{"$class":"URLComponents","scheme":"1a"}"#),
        (URLComponents.self, #"{"$class":"URLComponents","scheme":"a b"}"#),
        (URLComponents.self, #"{"$class":"URLComponents","scheme":"ä"}"#),
        (URLComponents.self, #"{"$class":"URLComponents","scheme":""}"#),
        (CharacterSet.self, #"{"$class":"CharacterSet","bitmap":{"$data":""}}"#),
        (CharacterSet.self, #"{"$class":"CharacterSet","bitmap":{"$data":"AAEC"}}"#),
        (Calendar.self, calendar(#""firstWeekday":0"#)),
        (Calendar.self, calendar(#""minimumDaysInFirstWeek":9223372036854775807"#)),
        (
            DateComponents.self,
            #"{"$class":"DateComponents","calendar":\#(calendar(#""firstWeekday":-7"#))}"#
        ),
        (DateInterval.self, interval("1.0", "-1.0")),
        (DateInterval.self, interval(#"{"$real":"nan"}"#, "1.0")),
        (CharacterSet.self, bitmap(8192 + 8192)), (CharacterSet.self, bitmap(8192 + 8193)),
    ]

    private static func calendar(_ field: String) -> String {
        #"{"$class":"Calendar","identifier":"gregorian",\#(field)}"#
    }

    private static func interval(_ start: String, _ duration: String) -> String {
        #"{"$class":"DateInterval","start":{"$class":"NSDate","NS.time":\#(start)},"#
            + #""duration":\#(duration)}"#
    }

    private static func bitmap(_ size: Int) -> String {
        let bytes = Data(repeating: 0xFF, count: size).base64EncodedString()
        return #"{"$class":"CharacterSet","bitmap":{"$data":"\#(bytes)"}}"#
    }

    @Test("are the default if Foundation would trap", arguments: hostile.indices)
    func refusal(_ number: Int) throws {
        let (type, json) = Self.hostile[number]
        try refuse(type, KeyedArchive(json: json))
    }

    private func refuse<Value: CheckedCodable>(_ type: Value.Type, _ archive: KeyedArchive) throws {
        let defaults = Defaults.inMemory()
        let stored = DefaultsKey<KeyedArchive?>(
            "V", coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
        try defaults.set(archive, for: stored)
        #expect(throws: (any Error).self) { try defaults.value(of: DefaultsKey<Value?>("V")) }
        #expect(defaults[DefaultsKey<Value?>("V")] == nil)
    }

    @Test("may be optional")
    func optional() throws {
        let defaults = Defaults.inMemory()
        let key = DefaultsKey<IndexSet?>("V")
        defaults[key] = IndexSet([1])
        #expect(defaults[key] == IndexSet([1]))
        defaults[key] = nil
        #expect(!defaults.isSet(key))
    }
}

/// A row of the table, which a check compares with what happens.
struct TableRow {
    let value: String
    let codable: String
    let object: String

    /// The value is kept by a key of its own type, which the row names.
    func keeps<Value: Codable & Sendable & Equatable>(
        _ value: Value, by key: DefaultsKey<Value>
    )
        throws
    {
        #expect(codable.contains("`\(Self.name(of: Value.self))`"))
        let defaults = Defaults.inMemory()
        try defaults.set(value, for: key)
        #expect(try defaults.value(of: key) == value)
        let bytes = try Self.bytes(of: key, in: defaults)
        #expect(try KeyedArchiveDecoder().decode(Value.self, from: bytes) == value)
    }

    /// `Measurement` for `Measurement<UnitLength>`.
    private static func name(of type: Any.Type) -> Substring {
        let names: [ObjectIdentifier: Substring] = [ObjectIdentifier(NSRange.self): "NSRange"]
        return names[ObjectIdentifier(type)] ?? "\(type)".prefix { $0 != "<" }
    }

    /// An object is kept by a key of its class, which the row names.
    func keeps<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ object: Object, ofClass class: Object.Type,
        isSame: (Object, Object) -> Bool = { $0.isEqual($1) }
    ) throws {
        #expect(self.object.contains("`\(`class`)`"))
        let key = DefaultsKey("Object", ofClass: `class`)
        let defaults = Defaults.inMemory()
        try defaults.set(object, for: key)
        #expect(isSame(try #require(try defaults.value(of: key)), object))
        let bytes = try Self.bytes(of: key, in: defaults)
        let again = try KeyedArchive(validating: bytes).decodeObject(of: `class`)
        #expect(isSame(try #require(again), object))
    }

    /// A class is refused when an object is written or read, with the row's advice.
    func refuses<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ object: Object, ofClass class: Object.Type
    ) throws {
        #expect(self.object.hasPrefix("`\(`class`)` is refused"))
        let key = DefaultsKey("Object", ofClass: `class`)
        let defaults = Defaults.inMemory()
        let name = "'\(`class`)'"
        let refusal = try #require(throws: DefaultsError.self) {
            try defaults.set(object, for: key)
        }
        let written = try #require(refusal.underlyingError as? ObjectCodingError)
        let archive = try KeyedArchive(json: #"{"$class":"\#(`class`)"}"#)
        let read = try #require(throws: ObjectCodingError.self) {
            try archive.decodeObject(of: `class`)
        }
        for error in [written, read] {
            #expect(error.code == .unsupportedClass)
            #expect(error.message.contains(name) && error.message.contains(advice))
        }
    }

    /// What the row says after the semicolon, as a message says it.
    private var advice: String {
        let words = object.components(separatedBy: "; ").dropFirst().first ?? "no advice"
        return words.prefix(1).uppercased() + words.dropFirst().filter { $0 != "`" }
    }

    private static func bytes<Value>(of key: DefaultsKey<Value>, in defaults: Defaults) throws
        -> [UInt8]
    {
        let stored = DefaultsKey<KeyedArchive?>(
            key.name, coding: ValueCoding(encode: { $0 }, decode: { $0 }), default: { nil })
        return try #require(try defaults.value(of: stored)).bytes
    }
}
