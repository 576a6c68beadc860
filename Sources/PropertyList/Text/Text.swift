/// A string of a property list: any sequence of UTF-16 code units.
///
/// Property lists store strings that no Swift `String` can hold, namely with unpaired surrogates.
/// Nearly all strings are well-formed, so they are kept as a `String`; only the others are kept as
/// code units.
///
/// Two texts are equal when their code units are. Unlike with `String`, "é" in one code point and
/// "é" in two are different texts. They are ordered by code point.
///
/// ```swift
/// let title: Text = "Dune"
/// if let string = title.string { print(string) }
/// ```
public struct Text: Sendable {
    private enum Storage {
        case wellFormed(String)
        /// Has at least one unpaired surrogate, so it never equals a well-formed text.
        case illFormed([UInt16])
    }

    private let storage: Storage

    /// Makes the text that `string` is.
    public init(_ string: String) {
        storage = .wellFormed(string)
    }

    /// Makes the text of these UTF-16 code units, paired or not.
    public init(utf16 codeUnits: [UInt16]) {
        if let string = String(validating: codeUnits, as: UTF16.self) {
            storage = .wellFormed(string)
        } else {
            storage = .illFormed(codeUnits)
        }
    }

    /// The text as a string, or nil if it has an unpaired surrogate.
    public var string: String? {
        switch storage {
        case .wellFormed(let string): string
        case .illFormed: nil
        }
    }

    /// The UTF-16 code units of the text.
    public var codeUnits: [UInt16] {
        switch storage {
        case .wellFormed(let string): Array(string.utf16)
        case .illFormed(let codeUnits): codeUnits
        }
    }

    /// About how many bytes of memory the text needs.
    ///
    /// Limits on output count this.
    public var byteCount: Int {
        switch storage {
        case .wellFormed(let string): string.utf8.count
        case .illFormed(let codeUnits): codeUnits.count * 2
        }
    }

    /// Whether the text begins with the code units of `prefix`.
    public func hasPrefix(_ prefix: String) -> Bool {
        switch storage {
        case .wellFormed(let string): string.utf8.starts(with: prefix.utf8)
        case .illFormed(let codeUnits): codeUnits.starts(with: prefix.utf16)
        }
    }
}

extension Text: ExpressibleByStringLiteral {
    /// Makes the text of a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Text: CustomStringConvertible {
    /// The text for people to read, with U+FFFD for each unpaired surrogate.
    public var description: String {
        switch storage {
        case .wellFormed(let string): string
        case .illFormed(let codeUnits): String(decoding: codeUnits, as: UTF16.self)
        }
    }
}

extension Text: Hashable {
    /// Whether both are the same code units; canonical equivalence does not count.
    public static func == (left: Text, right: Text) -> Bool {
        switch (left.storage, right.storage) {
        case (.wellFormed(let left), .wellFormed(let right)):
            // It is quick to see that strings are not even equivalent; then their code units
            // differ.
            left == right && left.utf8.elementsEqual(right.utf8)
        case (.illFormed(let left), .illFormed(let right)):
            left == right
        default:
            false
        }
    }

    /// Feeds the code units of the text to `hasher`.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .wellFormed(let string):
            // Not the string itself, because equivalent strings have equal hashes, and there can be
            // very many of them. One call hashes all bytes. The pointer does not leave the closure.
            let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable { bytes in
                hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
            }
            if isHashed == nil {
                for byte in string.utf8 { hasher.combine(byte) }
            }
            hasher.combine(UInt8.max)
        case .illFormed(let codeUnits):
            hasher.combine(codeUnits)
        }
    }
}

extension Text: Comparable {
    /// Whether `left` is before `right` by code points.
    ///
    /// An unpaired surrogate counts as a code point.
    public static func < (left: Text, right: Text) -> Bool {
        if case .wellFormed(let left) = left.storage, case .wellFormed(let right) = right.storage {
            // The bytes of UTF-8 are ordered as its code points are.
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        return left.codePoints.lexicographicallyPrecedes(right.codePoints)
    }

    /// The code points of the text, including unpaired surrogates.
    private var codePoints: [UInt32] {
        var points: [UInt32] = []
        for unit in codeUnits {
            if UTF16.isTrailSurrogate(unit), let last = points.last, last & ~0x3FF == 0xD800 {
                points[points.count - 1] = 0x10000 + (last & 0x3FF) << 10 + UInt32(unit) & 0x3FF
            } else {
                points.append(UInt32(unit))
            }
        }
        return points
    }
}
