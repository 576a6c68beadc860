import Foundation

/// Whatever an archive holds, found by asking for one type after the other.
enum Anything: Codable {
    case null
    case boolean(Bool)
    case integer(Int128)
    case real(Double)
    case string(String)
    case data(Data)
    case array([Anything])
    case dictionary([String: Anything])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.singleValueContainer() {
            if container.decodeNil() {
                self = .null
                return
            }
            // Integers are taken for booleans, but not the reverse.
            if let value = try? container.decode(Int128.self) {
                self = .integer(value)
                return
            }
            if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
                return
            }
            if let value = try? container.decode(Double.self) {
                self = .real(value)
                return
            }
            if let value = try? container.decode(String.self) {
                self = .string(value)
                return
            }
            if let value = try? container.decode(Data.self) {
                self = .data(value)
                return
            }
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [Anything] = []
            while !container.isAtEnd { elements.append(try container.decode(Anything.self)) }
            self = .array(elements)
            return
        }
        let container = try decoder.container(keyedBy: AnyKey.self)
        var entries: [String: Anything] = [:]
        for key in container.allKeys {
            entries[key.stringValue] = try container.decode(Anything.self, forKey: key)
        }
        self = .dictionary(entries)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }
}

/// A key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// An app's object, of the class that some seeds have.
struct Account: Codable {
    var name: String
    var age: UInt8?
    var active: Bool?
    var ratio: Float?
    var created: Date?
    var homepage: URL?
    var identifier: UUID?
    var nicknames: Set<String>?
    var scores: [Int: Double]?
    var kind: Kind?
    var owner: Indirect<Account>?

    enum Kind: Codable {
        case plain
        case paid(until: Date, cents: Int)
    }
}

/// Fields of the plainest types.
struct Holder: Codable {
    var a: Anything?
    var b: Anything?
    var bytes: [UInt8]?
    var list: [Anything]?
    var map: [String: Anything]?
    var number: Int64?
}

/// A value that contains itself.
indirect enum Indirect<Value: Codable>: Codable {
    case value(Value)

    init(from decoder: any Decoder) throws {
        self = .value(try Value(from: decoder))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .value(let value): try value.encode(to: encoder)
        }
    }
}

/// Objects that refer to each other, one instance each.
final class Node: Codable {
    var me: Node?
    var list: [Node]?
    var x: Int?
}
