internal import PropertyList

/// Parses JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)) strictly and makes an archive
/// from it.
///
/// Integers stay exact up to 128 bits, and strings keep unpaired surrogates.
///
/// Open collections are on a stack in an array. The builder limits its depth.
struct JSONParser {
    private struct Collection {
        let isDictionary: Bool
        /// The offset of its bracket.
        ///
        /// Errors of the whole collection are reported there.
        let start: Int
        var isEmpty = true

        var end: UInt8 { UInt8(ascii: isDictionary ? "}" : "]") }
    }

    var scanner: JSONScanner
    private var builder: ValueFormBuilder
    private var stack: [Collection] = []
    /// Whether the value is only skipped.
    private var isSkipping = false

    /// Begins at the position of the scanner.
    init(_ scanner: JSONScanner, limits: ValueFormLimits) {
        self.scanner = scanner
        builder = ValueFormBuilder(limits: limits)
    }

    /// Reads the single value of the text.
    mutating func parse() throws(JSONFault) -> KeyedArchive {
        let archive = try parseValue()
        scanner.skipSpace()
        guard scanner.isAtEnd else {
            throw scanner.fault("There is more text after the end of the value.")
        }
        return archive
    }

    /// Reads a value.
    ///
    /// The scanner is then after it.
    mutating func parseValue() throws(JSONFault) -> KeyedArchive {
        try walk()
        return builder.finish()
    }

    /// Skips a value that is valid JSON, even if it cannot be an archive.
    mutating func skipValue() throws(JSONFault) {
        isSkipping = true
        try walk()
    }

    private mutating func walk() throws(JSONFault) {
        try value()
        while var collection = stack.popLast() {
            scanner.skipSpace()
            if scanner.skip(collection.end) {
                try end(collection)
                continue
            }
            if !collection.isEmpty { try separator(in: collection) }
            collection.isEmpty = false
            stack.append(collection)
            if collection.isDictionary { try key() }
            try value()
        }
    }

    /// Reads a complete scalar, or the opening bracket of a collection.
    private mutating func value() throws(JSONFault) {
        scanner.skipSpace()
        let start = scanner.offset
        guard let next = scanner.next else {
            throw scanner.fault("The text ends where a value is expected.")
        }
        switch next {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try begin()
        case UInt8(ascii: "\""):
            let text = try scanner.string()
            try emit(at: start) { builder throws(ValueFormError) in try builder.string(text) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number()
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            try literal()
        default:
            // An empty array has ended before: this is the end only after a comma.
            throw next == UInt8(ascii: "]") && stack.last?.isDictionary == false
                ? scanner.fault("A value is expected here, after the comma. Remove the comma.")
                : scanner.fault("A value is expected here.")
        }
    }

    private mutating func begin() throws(JSONFault) {
        let start = scanner.offset
        let isDictionary = scanner.skip(UInt8(ascii: "{"))
        if !isDictionary { _ = scanner.skip(UInt8(ascii: "[")) }
        try emit(at: start) { builder throws(ValueFormError) in
            if isDictionary { try builder.beginDictionary() } else { try builder.beginArray() }
        }
        stack.append(Collection(isDictionary: isDictionary, start: start))
    }

    private mutating func end(_ collection: Collection) throws(JSONFault) {
        try emit(at: collection.start) { builder throws(ValueFormError) in
            if collection.isDictionary {
                try builder.endDictionary()
            } else {
                try builder.endArray()
            }
        }
    }

    private mutating func separator(in collection: Collection) throws(JSONFault) {
        guard scanner.skip(UInt8(ascii: ",")) else {
            let end = collection.isDictionary ? "}" : "]"
            throw scanner.fault("A comma or the closing \(end) is expected here.")
        }
    }

    private mutating func key() throws(JSONFault) {
        let key = try scanner.key()
        try emit(at: key.offset) { builder throws(ValueFormError) in try builder.key(key.text) }
    }

    private mutating func number() throws(JSONFault) {
        let start = scanner.offset
        let number: JSONScanner.Number
        do throws(JSONFault) {
            number = try scanner.number()
        } catch {
            // Its digits have been read.
            guard isSkipping, error.code == .numberOutOfRange else { throw error }
            return
        }
        try emit(at: start) { builder throws(ValueFormError) in
            switch number {
            case .integer(let value): try builder.integer(value)
            case .real(let value): try builder.real(value)
            }
        }
    }

    private mutating func literal() throws(JSONFault) {
        let start = scanner.offset
        let word = scanner.word()
        try emit(at: start) { builder throws(ValueFormError) in
            switch word {
            case "true": try builder.boolean(true)
            case "false": try builder.boolean(false)
            case "null": try builder.null()
            default: break
            }
        }
        guard ["true", "false", "null"].contains(word) else {
            throw JSONFault(.syntax, at: start, "Expected true, false or null.")
        }
    }

    /// Passes an event to the builder.
    ///
    /// If the builder refuses it, the error is reported at `offset`.
    private mutating func emit(
        at offset: Int, _ event: (inout ValueFormBuilder) throws(ValueFormError) -> Void
    ) throws(JSONFault) {
        guard !isSkipping else { return }
        do throws(ValueFormError) {
            try event(&builder)
        } catch {
            throw JSONFault(error, at: offset)
        }
    }
}
