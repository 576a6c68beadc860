import ArchiveTestSupport
import Foundation
import KeyedArchive

/// The types that the tests of coding encode and decode.
struct Account: Codable, Hashable {
    var username: String
    var isAdmin = false
    var age: Int?
}

struct Options: Codable, Hashable {
    var playSound: Bool
    var showHints: Bool
}

struct Book: Codable, Hashable {
    var title: String
    var author: String
    var pageCount: Int
    var categories: [String]
    var available: Bool

    static func shelf(_ count: Int) -> [Book] {
        (0..<count).map {
            Book(
                title: "Title \($0)", author: "Author \($0 % 10)", pageCount: 100 + $0,
                categories: ["fiction", "kind \($0 % 7)"], available: $0 % 2 == 0)
        }
    }
}

struct Outer: Codable, Hashable {
    struct Inner: Codable, Hashable {
        var value: Int
    }
    var inner: Inner
    var others: [Inner]
    var named: [String: Inner]
}

struct Box<Content: Codable & Hashable & Sendable>: Codable, Hashable {
    var content: Content
}

struct Empty: Codable, Hashable {}

struct Numbers: Codable, Hashable {
    var small: Int8 = -128
    var byte: UInt8 = 255
    var short: Int16 = -32768
    var word: UInt16 = 65535
    var medium: Int32 = .min
    var unsigned: UInt32 = .max
    var wide: Int64 = .min
    var widest: UInt64 = .max
    var huge: Int128 = .min
    var real = 0.1
    var single: Float = 0.1
    var yes = true
    var no = false
}

struct Renamed: Codable, Hashable {
    var name: String
    var kind: Int

    private enum CodingKeys: String, CodingKey {
        case name = "NS.name"
        case kind = "$kind"
    }
}

/// A value that encodes itself as a single one.
struct Meters: Codable, Hashable {
    var value: Double

    init(_ value: Double) { self.value = value }

    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Double.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A value that encodes itself as another one with fields.
struct Wrapper: Codable, Hashable {
    var account: Account

    init(_ account: Account) { self.account = account }

    init(from decoder: any Decoder) throws {
        account = try decoder.singleValueContainer().decode(Account.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(account)
    }
}

enum Colour: String, Codable, Hashable, CaseIterable {
    case red, green
}

enum Level: Int, Codable, Hashable {
    case low = 1
    case high = 2
}

indirect enum Shape2D: Codable, Hashable {
    case nothing
    case circle(radius: Double)
    case pair(Int, String)
    case group([Shape2D], name: String?)
}

/// Unkeyed containers inside keyed ones, and the reverse.
struct Mixed: Codable, Hashable {
    var points: [[Int]]
    var label: String

    enum CodingKeys: CodingKey { case points, meta }
    enum MetaKeys: CodingKey { case label }

    init(points: [[Int]], label: String) {
        self.points = points
        self.label = label
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var list = try container.nestedUnkeyedContainer(forKey: .points)
        points = []
        while !list.isAtEnd {
            var inner = try list.nestedUnkeyedContainer()
            var point: [Int] = []
            while !inner.isAtEnd { point.append(try inner.decode(Int.self)) }
            points.append(point)
        }
        label = try container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
            .decode(String.self, forKey: .label)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var list = container.nestedUnkeyedContainer(forKey: .points)
        for point in points {
            var inner = list.nestedUnkeyedContainer()
            for number in point { try inner.encode(number) }
        }
        var meta = container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        try meta.encode(label, forKey: .label)
    }
}

/// A value that requests its fields twice from the same encoder.
struct TwoContainers: Codable, Hashable {
    var first = 1
    var second = "b"

    enum FirstKeys: CodingKey { case first }
    enum SecondKeys: CodingKey { case second }

    init() {}

    init(from decoder: any Decoder) throws {
        first = try decoder.container(keyedBy: FirstKeys.self).decode(Int.self, forKey: .first)
        second = try decoder.container(keyedBy: SecondKeys.self)
            .decode(String.self, forKey: .second)
    }

    func encode(to encoder: any Encoder) throws {
        var one = encoder.container(keyedBy: FirstKeys.self)
        var two = encoder.container(keyedBy: SecondKeys.self)
        try two.encode(second, forKey: .second)
        try one.encode(first, forKey: .first)
    }
}

/// A type whose fields have any type, including nil.
struct Sparse: Codable, Hashable {
    var number: Int?
    var text: String?
    var list: [Int?]
    var names: [String: String?]
    var nested: Account?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(text, forKey: .text)
        try container.encode(list, forKey: .list)
        try container.encode(names, forKey: .names)
        try container.encode(nested, forKey: .nested)
    }
}

/// A closure that encodes or decodes by hand.
struct Handmade: Encodable {
    var body: (any Encoder) throws -> Void

    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
    init(stringLiteral value: String) { stringValue = value }
}

// MARK: Classes

class Vehicle: Codable {
    var wheels: Int

    init(wheels: Int) { self.wheels = wheels }
}

final class Car: Vehicle {
    var brand: String

    enum CodingKeys: CodingKey { case brand }

    init(brand: String) {
        self.brand = brand
        super.init(wheels: 4)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        brand = try container.decode(String.self, forKey: .brand)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(brand, forKey: .brand)
        try super.encode(to: container.superEncoder())
    }
}

/// A subclass that stores its superclass separately, under its own key.
final class Truck: Vehicle {
    var load: Double

    enum CodingKeys: CodingKey { case load, base }

    init(load: Double) {
        self.load = load
        super.init(wheels: 6)
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        load = try container.decode(Double.self, forKey: .load)
        try super.init(from: container.superDecoder(forKey: .base))
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(load, forKey: .load)
        try super.encode(to: container.superEncoder(forKey: .base))
    }
}

final class Person: Codable {
    var name: String
    var friend: Person?

    init(_ name: String) { self.name = name }
}

// MARK: Ways there and back

extension KeyedArchive {
    static func encoding(_ value: some Encodable) throws -> KeyedArchive {
        try KeyedArchiveEncoder().encode(value)
    }

    /// The archive's value form.
    func text() throws -> String { try json().text }
}

extension Decodable {
    /// The value that a value form is.
    static func decoded(_ json: String) throws -> Self {
        try KeyedArchiveDecoder().decode(Self.self, from: KeyedArchive(json: json))
    }
}

extension DecodingError {
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context), .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    /// The kind of the error, its path and its sentence.
    var summary: String {
        let kind =
            switch self {
            case .typeMismatch: "mismatch"
            case .valueNotFound: "no value"
            case .keyNotFound: "no key"
            case .dataCorrupted: "corrupted"
            @unknown default: "other"
            }
        let path = (context?.codingPath ?? []).map(\.stringValue).joined(separator: ".")
        return "\(kind) at \(path): \(context?.debugDescription ?? "")"
    }
}

extension EncodingError {
    var context: Context? {
        if case .invalidValue(_, let context) = self { context } else { nil }
    }

    /// The path of the error and its sentence.
    var summary: String {
        let path = (context?.codingPath ?? []).map(\.stringValue).joined(separator: ".")
        return "\(path): \(context?.debugDescription ?? "")"
    }
}

/// The message of an error of encoding or decoding; nil if there is none.
func summary(of body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let error as DecodingError {
        return error.summary
    } catch let error as EncodingError {
        return error.summary
    } catch {
        return "\(error)"
    }
}
