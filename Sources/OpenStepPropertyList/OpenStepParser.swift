package import PropertyList

extension PropertyList {
    /// Reads a property list in the old style of OpenStep, in UTF-8.
    ///
    /// It is strings, bare if they are only of ASCII letters, digits and `_$/:.-`, else between `"`
    /// or `'` with escapes (`\n`, `\101` octal, `\U00e9` a UTF-16 code unit); `(`arrays`)`; `{`
    /// dictionaries`}` of `key = value;`; and data, `<0fbe>`. Entries may come without braces, as
    /// in a `.strings` file. Numbers, booleans and dates are strings but in GNUstep's extension:
    /// `<*I5>`, `<*R1.5>`, `<*BY>`, `<*D2001-01-01 00:00:00 +0000>`.
    ///
    /// ```swift
    /// let list = try PropertyList(openStep: Array("{ title = Dune; pages = <*I412>; }".utf8))
    /// ```
    ///
    /// Of equal keys the last one counts, in the place of the first.
    ///
    /// - Parameter repeatedKey: Gets the line and column of the first key that its dictionary has
    ///   had already.
    /// - Throws: ``OpenStepError`` with the line and column of the first fault.
    package init(
        openStep text: [UInt8], limits: Limits = .standard,
        repeatedKey: (_ line: Int, _ column: Int) -> Void = { _, _ in }
    ) throws(OpenStepError) {
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

/// Reads a property list in the old style and makes a binary one of it.
///
/// What is open is on a stack in an array, so the depth of a text causes no recursion.
struct OpenStepParser {
    /// A collection that has no end yet.
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
        /// The position of the key whose value comes next.
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
            // After a string it may be the rest of a .strings file: a = b;
            guard isString else { throw .junk(at: scanner.offset) }
            root = try strings()
        }
        guard let root else { preconditionFailure("A value ended without one.") }
        return writer.finishList(root: root)
    }

    /// Begins again, and reads the text as entries of a dictionary.
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
    /// Reads an element or an entry of the innermost collection, or its end; returns the root at
    /// its end.
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

    /// Goes past the bracket that ends a collection, if it comes next.
    private mutating func isAtEnd(of kind: Frame.Kind) -> Bool {
        switch kind {
        case .array: scanner.skip(")")
        case .dictionary: scanner.skip("}")
        case .strings: scanner.isAtEnd
        }
    }

    /// Reads a key and what is between it and its value; true if it has no value, as in `{a;}`, and
    /// is its own.
    private mutating func key() throws(OpenStepFault) -> Bool {
        let start = scanner.offset
        guard scanner.isAtString else { throw .expected("A key or the end, }", at: start) }
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

    /// Puts a value into the innermost collection, with what parts it from the next; gives it back
    /// if it is the root.
    private mutating func put(_ value: ObjectIndex) throws(OpenStepFault) -> ObjectIndex? {
        // The frame is not taken out to look at: it would be copied to be changed.
        guard let kind = stack.last?.kind else { return value }
        stack[stack.count - 1].put(value)
        try scanner.skipSpace()
        switch kind {
        case .array:
            guard scanner.skip(",") || scanner.next == UInt8(ascii: ")") else {
                throw .expected("A comma or the end, )", at: scanner.offset)
            }
        case .dictionary, .strings:
            // GNUstep allows the last one to be left out.
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
    /// Reads a scalar whole, or the bracket that begins a collection; gives the value if it is the
    /// root.
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
