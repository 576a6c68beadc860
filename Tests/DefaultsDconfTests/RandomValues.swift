import DefaultsProtocol
import TestSupport

/// Random types, and random values of them.
struct RandomValues {
    private var generator: SeededGenerator

    init(_ generator: SeededGenerator) {
        self.generator = generator
    }

    private static let basic: [ExactType] = [
        .boolean, .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
        .objectPath, .signature,
    ]

    private mutating func number(_ range: Range<Int>) -> Int {
        .random(in: range, using: &generator)
    }

    mutating func type(depth: Int = 3) -> ExactType {
        let basic = Self.basic[number(0..<Self.basic.count)]
        guard depth > 0 else { return basic }
        switch number(0..<9) {
        case 0: return .variant
        case 1: return .maybe(type(depth: depth - 1))
        case 2, 3: return .array(type(depth: depth - 1))
        case 4: return .tuple((0..<number(0..<4)).map { _ in type(depth: depth - 1) })
        case 5: return .array(.entry(key: basic, value: type(depth: depth - 1)))
        default: return basic
        }
    }

    mutating func value(of type: ExactType, depth: Int = 0) -> ExactValue {
        ExactValue(type, content(of: type, depth))
    }

    private mutating func content(of type: ExactType, _ depth: Int) -> ExactValue.Content {
        if let range = type.integers {
            let some = [range.lowerBound, range.upperBound, 0, 1, Int128(number(0..<200))]
            return .integer(
                min(max(some[number(0..<some.count)], range.lowerBound), range.upperBound))
        }
        switch type {
        case .boolean: return .boolean(number(0..<2) == 0)
        case .double: return .double([0, -0.0, .nan, .infinity, 1.5, 3][number(0..<6)])
        case .string: return .string(["", "a", "$class", "$null", "é\u{1F3B2}"][number(0..<5)])
        case .objectPath: return .string(["/", "/a/b"][number(0..<2)])
        case .signature: return .string(["", "a{sv}"][number(0..<2)])
        case .variant:
            let inner = self.type(depth: depth > 2 ? 0 : 2)
            return .variant(value(of: inner, depth: depth + 1))
        case .maybe(let content):
            return .elements(number(0..<3) == 0 ? [] : [value(of: content, depth: depth + 1)])
        case .array(.byte): return .bytes((0..<number(0..<5)).map { UInt8($0 * 60) })
        case .array(.entry(let key, let content)): return .elements(entries(key, content, depth))
        case .array(let element):
            return .elements((0..<number(0..<4)).map { _ in value(of: element, depth: depth + 1) })
        case .tuple(let fields):
            return .elements(fields.map { value(of: $0, depth: depth + 1) })
        default: return .elements([])
        }
    }

    /// Entries with different keys: what is twice in a dictionary is lost.
    private mutating func entries(
        _ key: ExactType, _ content: ExactType, _ depth: Int
    ) -> [ExactValue] {
        var known: Set<ExactValue> = []
        return (0..<number(0..<3)).compactMap { _ in
            let name = value(of: key)
            guard known.insert(name).inserted else { return nil }
            return ExactValue(
                .entry(key: key, value: content),
                .elements([name, value(of: content, depth: depth + 1)]))
        }
    }
}
