import KeyedArchive
import PropertyList

/// A value that decides what programs may do or how the service works, as far as such values have parts
/// that count.
enum PolicyValue {
    case text(String)
    case integer(Int128)
    case real(Double)
    case list([PolicyValue])
    case dictionary([String: PolicyValue])
    /// Anything else, which decides nothing.
    case other

    /// The limits within which such a value is read.
    private static let limits = ValueFormLimits(size: 32 << 20, depth: 32, count: 1 << 18)

    /// - Parameter archive: The archive, as it is stored.
    /// - Throws: If it is not a valid archive, or exceeds a limit.
    init(validating archive: [UInt8]) throws {
        var reader = Reader()
        try KeyedArchive(validating: archive).render(into: &reader, limits: Self.limits)
        self = reader.result
    }

    /// An entry of a dictionary; nil if there is none.
    subscript(name: String) -> PolicyValue? {
        if case .dictionary(let entries) = self { entries[name] } else { nil }
    }

    /// The number, if it is a whole one that fits.
    ///
    /// One that is too large is the largest.
    var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number) ?? (number > 0 ? Int.max : nil)
        case .real(let number): Int(exactly: number)
        default: nil
        }
    }
}

/// Something that no value of D-Bus can have, so nobody can have meant it.
private struct UnreadablePolicy: Error {}

extension PolicyValue {
    /// Makes such a value from the events of a value form.
    private struct Reader: ValueFormSink {
        /// An array or a dictionary that has begun and not ended yet.
        private struct Container {
            let isDictionary: Bool
            var elements: [PolicyValue] = []
            var entries: [String: PolicyValue] = [:]
            /// The key of the next value.
            var key = ""
        }

        private var containers: [Container] = []
        private(set) var result = PolicyValue.other

        private mutating func put(_ value: PolicyValue) {
            guard let last = containers.indices.last else { return result = value }
            if containers[last].isDictionary {
                containers[last].entries[containers[last].key] = value
            } else {
                containers[last].elements.append(value)
            }
        }

        private mutating func end() {
            let container = containers.removeLast()
            put(
                container.isDictionary
                    ? .dictionary(container.entries) : .list(container.elements))
        }

        private func string(of text: Text) throws -> String {
            guard let string = text.string, !string.utf8.contains(0) else {
                throw UnreadablePolicy()
            }
            return string
        }

        mutating func integer(_ value: Int128) throws {
            guard value >= Int64.min, value <= UInt64.max else { throw UnreadablePolicy() }
            put(.integer(value))
        }

        mutating func reference(to uid: UInt64) throws { throw UnreadablePolicy() }
        mutating func string(_ value: Text) throws { put(.text(try string(of: value))) }
        mutating func key(_ key: Text) throws {
            containers[containers.count - 1].key = try string(of: key)
        }
        mutating func real(_ value: Double) { put(.real(value)) }
        mutating func null() { put(.other) }
        mutating func boolean(_ value: Bool) { put(.other) }
        mutating func data(_ value: ArraySlice<UInt8>) { put(.other) }
        mutating func bytes(_ value: ArraySlice<UInt8>) { put(.other) }
        mutating func date(_ secondsSince2001: Double) { put(.other) }
        mutating func beginArray() { containers.append(Container(isDictionary: false)) }
        mutating func endArray() { end() }
        mutating func beginDictionary() { containers.append(Container(isDictionary: true)) }
        mutating func endDictionary() { end() }
    }
}
