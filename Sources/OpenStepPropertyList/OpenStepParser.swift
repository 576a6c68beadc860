package import PropertyList

extension PropertyList {
    /// Parses a property list in the old style of OpenStep, in UTF-8, or in UTF-16 with a byte order
    /// mark.
    ///
    /// It consists of strings: without quotes if they have only ASCII letters, digits and `_$/:.-`,
    /// otherwise between `"` or `'` with escapes (`\n`, `\101` in octal for a character of the NeXTSTEP
    /// encoding, `\U00e9` for a UTF-16 code unit); `(`arrays`)`; `{`dictionaries`}` of `key = value;`; and data, `<0fbe>`. The braces
    /// may be omitted, as in a `.strings` file. Numbers, booleans and dates are strings, except in
    /// GNUstep's extension: `<*I5>`, `<*R1.5>`, `<*BY>`, `<*D2001-01-01 00:00:00 +0000>`.
    ///
    /// ```swift
    /// let list = try PropertyList(openStep: Array("{ title = Dune; pages = <*I412>; }".utf8))
    /// ```
    ///
    /// If a key is repeated, its last value counts, at the position of the first.
    ///
    /// - Parameter repeatedKey: Returns the line and column of the first repeated key in a
    ///   dictionary.
    /// - Throws: ``OpenStepError`` with the line and column of the first error.
    package init(
        openStep text: [UInt8], limits: Limits = .standard,
        repeatedKey: (_ line: Int, _ column: Int) -> Void = { _, _ in }
    ) throws(OpenStepError) {
        let text = ByteOrderMark.removed(from: text)
        do throws(OpenStepFault) {
            guard text.count <= limits.byteCount else {
                throw .tooLarge(byteCount: text.count, limit: limits.byteCount)
            }
            var parser = OpenStepParser(text, limits: limits)
            self = try parser.parse()
            if let offset = parser.repeatedKey {
                let place = OpenStepFault.junk(at: offset).error(in: text)
                repeatedKey(place.line, place.column)
            }
        } catch {
            throw error.error(in: text)
        }
    }
}

/// Parses a property list in the old style, and makes a binary one from it.
///
/// Open collections are on a stack in an array, so the depth of a text causes no recursion.
struct OpenStepParser {
    /// A collection that has not ended yet.
    private struct Frame {
        enum Kind {
            case array
            case dictionary
            /// The entries of a `.strings` file, which have no braces.
            case strings
        }
        let kind: Kind
        var keys: [ObjectIndex] = []
        var values: [ObjectIndex] = []
        var positions: [ObjectIndex: Int] = [:]
        /// The position of the key of the next value.
        var position = 0

        mutating func put(_ value: ObjectIndex) {
            if kind == .array || position == values.count {
                values.append(value)
            } else {
                values[position] = value
            }
        }
    }

    private let limits: PropertyList.Limits
    private var scanner: OpenStepScanner
    private var writer = PropertyListWriter()
    private var stack: [Frame] = []
    private var count = 0
    /// The offset of the first repeated key of a dictionary.
    private(set) var repeatedKey: Int?

    init(_ text: [UInt8], limits: PropertyList.Limits) {
        self.limits = limits
        scanner = OpenStepScanner(text)
    }

    mutating func parse() throws(OpenStepFault) -> PropertyList {
        try scanner.skipSpace()
        guard !scanner.isAtEnd else { throw .empty(at: scanner.offset) }
        let isString = scanner.isAtString
        var root = try value()
        while root == nil { root = try step() }
        try scanner.skipSpace()
        if !scanner.isAtEnd {
            // After a string, it may be the rest of a .strings file: a = b;
            guard isString else { throw .junk(at: scanner.offset) }
            root = try strings()
        }
        guard let root else { preconditionFailure("The text has no value.") }
        return writer.finishList(root: root)
    }

    /// Begins again, and parses the text as entries of a dictionary.
    private mutating func strings() throws(OpenStepFault) -> ObjectIndex? {
        let junk = scanner.offset
        guard scanner.next == UInt8(ascii: "=") || scanner.next == UInt8(ascii: ";") else {
            throw .junk(at: junk)
        }
        scanner.rewind(to: 0)
        writer = PropertyListWriter()
        repeatedKey = nil
        stack = [Frame(kind: .strings)]
        var root: ObjectIndex?
        while root == nil { root = try step() }
        return root
    }
}

// MARK: Collections

extension OpenStepParser {
    /// Parses an element or an entry of the innermost collection, or its end.
    ///
    /// Returns the root at its end.
    private mutating func step() throws(OpenStepFault) -> ObjectIndex? {
        guard let kind = stack.last?.kind else { preconditionFailure("No collection is open.") }
        try scanner.skipSpace()
        if isAtEnd(of: kind), let frame = stack.popLast() {
            return try put(
                kind != .array
                    ? writer.add(keys: frame.keys, values: frame.values)
                    : writer.add(array: frame.values))
        }
        if kind != .array, try key() { return nil }
        return try value()
    }

    /// Skips the bracket that ends a collection, if it comes next.
    private mutating func isAtEnd(of kind: Frame.Kind) -> Bool {
        switch kind {
        case .array: scanner.skip(")")
        case .dictionary: scanner.skip("}")
        case .strings: scanner.isAtEnd
        }
    }

    /// Parses a key and the text before its value.
    ///
    /// Returns true if the key has no value, as in `{a;}`, and is its own value.
    private mutating func key() throws(OpenStepFault) -> Bool {
        let start = scanner.offset
        guard scanner.isAtString else { throw .expected("A key or the closing }", at: start) }
        let text = try scanner.string()
        let key = writer.add(string: text)
        try note(at: start)
        let innermost = stack.count - 1
        if let position = stack[innermost].positions[key] {
            repeatedKey = repeatedKey ?? start
            stack[innermost].position = position
        } else {
            stack[innermost].position = stack[innermost].keys.count
            stack[innermost].positions[key] = stack[innermost].keys.count
            stack[innermost].keys.append(key)
        }
        try scanner.skipSpace()
        if scanner.skip(";") {
            stack[innermost].put(key)
            return true
        }
        guard scanner.skip("=") else { throw .expected("= after the key", at: scanner.offset) }
        return false
    }

    /// Adds a value to the innermost collection, and skips the separator after it.
    ///
    /// If it is the root, it is returned.
    private mutating func put(_ value: ObjectIndex) throws(OpenStepFault) -> ObjectIndex? {
        // The frame is changed in place: taking it out would copy it.
        guard let kind = stack.last?.kind else { return value }
        stack[stack.count - 1].put(value)
        try scanner.skipSpace()
        switch kind {
        case .array:
            guard scanner.skip(",") || scanner.next == UInt8(ascii: ")") else {
                throw .expected("A comma or the closing )", at: scanner.offset)
            }
        case .dictionary, .strings:
            // GNUstep allows omitting the last one.
            let isLast = scanner.next == UInt8(ascii: "}") && kind == .dictionary
            guard scanner.skip(";") || isLast else {
                throw .expected("A semicolon after the value", at: scanner.offset)
            }
        }
        return nil
    }

    private mutating func note(at offset: Int) throws(OpenStepFault) {
        count += 1
        guard count <= limits.objectCount else {
            throw .tooManyObjects(limit: limits.objectCount, at: offset)
        }
    }
}

// MARK: Values

extension OpenStepParser {
    /// Parses a complete scalar, or the opening bracket of a collection.
    ///
    /// If it is the root, it is returned.
    private mutating func value() throws(OpenStepFault) -> ObjectIndex? {
        try scanner.skipSpace()
        let start = scanner.offset
        try note(at: start)
        if scanner.isAtString { return try put(writer.add(string: scanner.string())) }
        if scanner.skip("{") { return try open(.dictionary, at: start) }
        if scanner.skip("(") { return try open(.array, at: start) }
        guard scanner.skip("<") else {
            throw scanner.isAtEnd ? .empty(at: start) : .noValue(at: start)
        }
        guard scanner.skip("*") else { return try put(writer.add(data: scanner.data())) }
        switch try scanner.typedValue() {
        case .integer(let value): return try put(writer.add(integer: value))
        case .real(let value): return try put(writer.add(real: value))
        case .boolean(let value): return try put(writer.add(boolean: value))
        case .date(let value): return try put(writer.add(date: value))
        }
    }

    private mutating func open(
        _ kind: Frame.Kind, at offset: Int
    ) throws(OpenStepFault) -> ObjectIndex? {
        guard stack.count < limits.depth else { throw .tooDeep(limit: limits.depth, at: offset) }
        stack.append(Frame(kind: kind))
        return nil
    }
}
