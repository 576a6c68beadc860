package import DBus
internal import DefaultsProtocol
internal import KeyedArchive

// Invariants
//
// 1. These four keys are all that a program in a sandbox can read by the portal.
// 2. What a stored value does not clearly say is no value: the portal asks its next backend.
// 3. A value that is sent has the type and the range of the portal's description.

/// A setting of the portal.
package enum AppearanceKey: String, CaseIterable, Sendable {
    case colorScheme = "color-scheme"
    case accentColor = "accent-color"
    case contrast
    case reducedMotion = "reduced-motion"

    /// What the number of a setting means, in the words that people may store.
    private var words: [[String]] {
        switch self {
        case .colorScheme:
            [["default", "no-preference"], ["prefer-dark", "dark"], ["prefer-light", "light"]]
        case .contrast: [["default", "no-preference"], ["high", "more"]]
        case .reducedMotion: [["default", "no-preference"], ["reduce", "reduced"]]
        case .accentColor: []
        }
    }

    /// Whether a boolean says the same as 0 and 1.
    private var isSwitch: Bool { self == .contrast || self == .reducedMotion }

    /// The largest archive that can have a value of a setting, in bytes.
    private static let largestArchive = 4 << 10

    /// The value that programs take as none.
    package var unset: Value {
        self == .accentColor ? AccentColor.unset : .uint32(0)
    }

    /// The value of a setting, with the type of the portal; nil if the archive has none.
    ///
    /// - Parameter archive: The bytes that are stored for the key.
    package func value(of archive: [UInt8]) -> Value? {
        guard archive.count <= Self.largestArchive,
            let archive = try? KeyedArchive(validating: archive),
            let stored = try? ExactValue(archive)
        else { return nil }
        return value(of: stored)
    }

    /// The value of a setting that the portal has from another backend; nil if it is none.
    package func value(reported value: Value) -> Value? {
        var value = value
        while case .variant(let content) = value { value = content }
        return ExactValue(value).flatMap(self.value)
    }

    private func value(of stored: ExactValue) -> Value? {
        self == .accentColor ? AccentColor(stored)?.value : number(stored).map(Value.uint32)
    }

    private func number(_ stored: ExactValue) -> UInt32? {
        switch stored.content {
        case .integer(let number):
            return UInt32(exactly: number).flatMap { words.indices.contains(Int($0)) ? $0 : nil }
        case .boolean(let flag) where isSwitch: return flag ? 1 : 0
        case .string(let word): return number(word)
        case .variant(let content): return number(content)
        default: return nil
        }
    }

    private func number(_ word: String) -> UInt32? {
        if isSwitch, word == "true" || word == "false" { return word == "true" ? 1 : 0 }
        return words.indices.first { String($0) == word || words[$0].contains(word) }
            .map { UInt32($0) }
    }
}

/// A colour as red, green and blue, each from 0 to 1.
private struct AccentColor {
    /// Three numbers.
    private let parts: [Double]

    var value: Value { .structure(parts.map(Value.double)) }

    /// What is out of range is no colour.
    static let unset = Value.structure([.double(-1), .double(-1), .double(-1)])

    /// The names that GNOME has for its accent colours.
    private static let named: [String: UInt32] = [
        "blue": 0x3584e4, "teal": 0x2190a4, "green": 0x3a944a, "yellow": 0xc88800,
        "orange": 0xed5b00, "red": 0xe62d42, "pink": 0xd56199, "purple": 0x9141ac,
        "slate": 0x6f8396,
    ]

    private init(parts: [Double]) { self.parts = parts }

    /// Reads a list of three numbers, or a text.
    init?(_ stored: ExactValue) {
        switch stored.content {
        case .variant(let content): self.init(content)
        case .string(let text): self.init(text)
        case .elements(let elements):
            let parts = elements.prefix(4).compactMap(Self.part)
            guard parts.count == 3, elements.count == 3 else { return nil }
            self.init(parts: parts)
        default: return nil
        }
    }

    /// Reads a name, or `#rrggbb`.
    private init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        let isHexadecimal = digits.count == 6 && digits.allSatisfy { Self.digits.contains($0) }
        let written =
            text.utf8.first == UInt8(ascii: "#") && isHexadecimal
            ? UInt32(text.dropFirst(), radix: 16) : nil
        guard let color = written ?? Self.named[text] else { return nil }
        self.init(parts: [16, 8, 0].map { Double(color >> $0 & 0xff) / 255 })
    }

    private static let digits = Set("0123456789abcdefABCDEF".utf8)

    private static func part(_ stored: ExactValue) -> Double? {
        let number: Double? =
            switch stored.content {
            case .double(let number): number
            case .integer(let number): Double(number)
            case .string(let word): Double(word)
            case .variant(let content): part(content)
            default: nil
            }
        return number.flatMap { (0...1).contains($0) ? $0 : nil }
    }
}
