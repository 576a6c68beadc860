import DBus
import DefaultsTerms
import KeyedArchive
import PropertyList

/// Makes a D-Bus value from the events of a value form.
///
/// Invariants:
/// 1. The value is never nested deeper than a message allows. An event that would exceed this depth
///    is refused at once, not when the message is sent.
/// 2. The value is within its budget.
struct VariantWriter: ValueFormSink {
    /// An array or a dictionary that has begun and not ended yet.
    private struct Container {
        let isDictionary: Bool
        var elements: [Value] = []
        var entries: [Value.Entry] = []
        /// The key of the next value.
        var key: String?
    }

    /// The most containers inside each other that a message may have.
    private static let deepest = 64
    /// An array and the variant around each element.
    private static let arrayDepth = 2
    /// An array, its dictionary entry and the variant around each value.
    private static let dictionaryDepth = 3

    private var containers: [Container] = []
    private var depth: Int
    /// What is left.
    ///
    /// It is negative if the last event exceeded it.
    private(set) var budget: ValueBudget
    private var result: Value?

    /// - Parameters:
    ///   - containers: How many containers of the message the value will be inside.
    ///   - budget: The limits for this archive.
    init(inside containers: Int, budget: ValueBudget) {
        depth = containers
        self.budget = budget
    }

    /// Returns the value, after the last event.
    consuming func finish() -> Value {
        guard let result else { preconditionFailure("the value form has not ended") }
        return result
    }

    mutating func null() throws {
        try beginDictionary()
        try key("$class")
        try put(.string("$null"))
        try endDictionary()
    }

    mutating func boolean(_ value: Bool) throws { try put(.boolean(value)) }

    mutating func integer(_ value: Int128) throws {
        if let signed = Int64(exactly: value) {
            try put(.int64(signed))
        } else if let unsigned = UInt64(exactly: value) {
            try put(.uint64(unsigned))
        } else {
            throw Self.notRepresentable("an integer of more than 64 bits")
        }
    }

    mutating func real(_ value: Double) throws { try put(.double(value)) }

    mutating func string(_ value: Text) throws { try put(.string(Self.string(of: value))) }

    mutating func data(_ value: ArraySlice<UInt8>) throws { try put(.bytes(Array(value))) }

    mutating func bytes(_ value: ArraySlice<UInt8>) throws {
        try beginDictionary()
        try key("$bytes")
        try put(.bytes(Array(value)))
        try endDictionary()
    }

    mutating func date(_ secondsSince2001: Double) throws {
        try beginDictionary()
        try key("$class")
        try put(.string("NSDate"))
        try key("NS.time")
        try put(.double(secondsSince2001))
        try endDictionary()
    }

    mutating func reference(to uid: UInt64) throws {
        throw Self.notRepresentable("an object that contains itself")
    }

    mutating func beginArray() throws {
        try open(Container(isDictionary: false), depth: Self.arrayDepth)
    }

    mutating func endArray() throws {
        let container = close(depth: Self.arrayDepth)
        try put(.array(of: "v", container.elements))
    }

    mutating func beginDictionary() throws {
        try open(Container(isDictionary: true), depth: Self.dictionaryDepth)
    }

    mutating func key(_ key: Text) throws {
        let key = try Self.string(of: key)
        try count(bytes: key.utf8.count)
        containers[containers.count - 1].key = key
    }

    mutating func endDictionary() throws {
        let container = close(depth: Self.dictionaryDepth)
        try put(.dictionary(key: "s", value: "v", container.entries))
    }
}

extension VariantWriter {
    private mutating func open(_ container: Container, depth levels: Int) throws {
        depth += levels
        guard depth <= Self.deepest else { throw Self.tooDeep }
        containers.append(container)
    }

    private mutating func close(depth levels: Int) -> Container {
        depth -= levels
        guard let container = containers.popLast() else {
            preconditionFailure("a value form ended what had not begun")
        }
        return container
    }

    /// Puts a finished value into the container that began last, or makes it the result.
    private mutating func put(_ value: Value) throws {
        try count(bytes: Self.size(of: value))
        budget.values -= 1
        guard budget.values >= 0 else { throw Self.tooMany }
        guard let last = containers.indices.last else { return result = value }
        if containers[last].isDictionary {
            guard let key = containers[last].key.take() else {
                preconditionFailure("a value form gave a dictionary a value without a key")
            }
            containers[last].entries.append(Value.Entry(.string(key), .variant(value)))
        } else {
            containers[last].elements.append(.variant(value))
        }
    }

    /// Counts bytes of the message, including signatures, lengths and padding.
    private mutating func count(bytes: Int) throws {
        budget.bytes -= bytes + 16
        guard budget.bytes >= 0 else { throw Self.tooLarge }
    }

    /// The bytes of a scalar.
    ///
    /// The bytes of a container are counted while it is filled.
    private static func size(of value: Value) -> Int {
        switch value {
        case .string(let string): string.utf8.count
        case .bytes(let bytes): bytes.count
        default: 8
        }
    }

    /// D-Bus strings are UTF-8 without NUL, but the strings of an archive are any UTF-16.
    private static func string(of text: Text) throws -> String {
        guard let string = text.string else {
            throw notRepresentable("a string with an unpaired surrogate")
        }
        guard !string.utf8.contains(0) else { throw notRepresentable("a NUL in a string") }
        return string
    }

    private static func notRepresentable(_ what: String) -> ContractError {
        ContractError(
            .notRepresentable,
            "The archive contains \(what), which a D-Bus value cannot carry. Read its bytes with Get."
        )
    }

    static var tooDeep: ContractError {
        notRepresentable("values nested deeper than a message allows")
    }

    static var tooMany: ContractError {
        ContractError(
            .tooLarge,
            "The archive expands to more than \(ContractLimits.maximumValueCount) values, including nested "
                + "ones. Read its bytes with Get.")
    }

    static var tooLarge: ContractError {
        ContractError(
            .tooLarge,
            "As a D-Bus value the archive would exceed the size of a reply, which is at most "
                + "\(ContractLimits.maximumReplySize) bytes. Read its bytes with Get.")
    }
}
