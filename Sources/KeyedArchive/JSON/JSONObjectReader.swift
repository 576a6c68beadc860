package import PropertyList

/// Reads a JSON object member by member, and makes an archive from each value.
///
/// So a whole domain can be read without an archive of all of it, and each value has a place in the
/// text.
///
/// ```swift
/// var reader = try JSONObjectReader(text)
/// while let key = try reader.nextKey() {
///     values[key] = try reader.value()
/// }
/// ```
///
/// After each key, call ``value()`` or ``strings()`` once. If they throw, call ``skipValue()`` to
/// skip the value. After any other error, except for a repeated key, the reader cannot be used.
///
/// Instead of reading a value whole, ``enterObject()`` and ``enterArray()`` make its members or elements those
/// that come next.
package struct JSONObjectReader {
    /// A string of an array, and where in the text it begins.
    package struct Element: Sendable {
        /// The string.
        package let text: Text
        /// The offset of its quotation mark, in bytes from 0.
        package let offset: Int
    }

    private let text: [UInt8]
    private let limits: ValueFormLimits
    private var scanner: JSONScanner
    /// The keys of the objects that have been entered, the outermost first; nil for an array.
    private var known: [Set<Text>?] = [[]]
    /// Whether the innermost object or array has had a member or an element.
    private var hasBegun = false
    /// The offset of the key that was read last, in bytes from 0.
    package private(set) var keyOffset = 0

    /// How many bytes have been read.
    package var offset: Int { scanner.offset }

    /// Begins to read a text in UTF-8, or in UTF-16 with a byte order mark.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limits: The limits for each value.
    /// - Throws: ``JSONError`` if the text does not begin like an object.
    package init(_ text: [UInt8], limits: ValueFormLimits = .standard) throws(JSONError) {
        let text = ByteOrderMark.removed(from: text)
        self.text = text
        self.limits = limits
        scanner = JSONScanner(text)
        try reading { scanner throws(JSONFault) in
            scanner.skipSpace()
            let start = scanner.offset
            guard scanner.skip(UInt8(ascii: "{")) else {
                throw JSONFault(.syntax, at: start, "The text is not a JSON object.")
            }
        }
    }

    /// The key of the next member, which differs from all earlier keys; nil at the end of the
    /// object, and of the text if it is the outermost one.
    ///
    /// - Throws: ``JSONError`` if there is neither a key nor the end.
    package mutating func nextKey() throws(JSONError) -> Text? {
        let (isFirst, isOutermost) = (!hasBegun, known.count == 1)
        let member = try reading { scanner throws(JSONFault) in
            try scanner.key(isFirst: isFirst, isOutermost: isOutermost)
        }
        hasBegun = true
        guard let member else {
            if !isOutermost { known.removeLast() }
            return nil
        }
        keyOffset = member.offset
        guard known[known.count - 1]?.insert(member.text).inserted == true else {
            throw JSONFault(.duplicateKey, at: member.offset).error(in: text)
        }
        return member.text
    }

    /// Enters the next value if it is an object, whose members come next.
    package mutating func enterObject() throws(JSONError) -> Bool {
        try enter(UInt8(ascii: "{"), [])
    }

    /// Enters the next value if it is an array, whose elements come next.
    package mutating func enterArray() throws(JSONError) -> Bool {
        try enter(UInt8(ascii: "["), nil)
    }

    private mutating func enter(
        _ bracket: UInt8, _ keys: Set<Text>?
    ) throws(JSONError) -> Bool {
        scanner.skipSpace()
        guard scanner.skip(bracket) else { return false }
        known.append(keys)
        hasBegun = false
        return true
    }

    /// Whether another element of the array that was entered last comes; its end leaves it.
    ///
    /// - Throws: ``JSONError`` if there is neither an element nor the end.
    package mutating func nextElement() throws(JSONError) -> Bool {
        let isFirst = !hasBegun
        let hasNext = try reading { scanner throws(JSONFault) in try scanner.element(isFirst) }
        hasBegun = true
        if hasNext { keyOffset = scanner.offset } else { known.removeLast() }
        return hasNext
    }

    /// The first key of the next value, if that is an object with a key.
    package func firstKey() -> Text? {
        var ahead = scanner
        ahead.skipSpace()
        guard ahead.skip(UInt8(ascii: "{")) else { return nil }
        return try? ahead.key(isFirst: true, isOutermost: false)?.text
    }

    /// Reads the next value as an archive.
    ///
    /// - Throws: ``JSONError`` if the text is invalid or the value cannot be an archive.
    package mutating func value() throws(JSONError) -> KeyedArchive {
        let limits = limits
        return try reading { scanner throws(JSONFault) in
            var parser = JSONParser(scanner, limits: limits)
            let archive = try parser.parseValue()
            scanner = parser.scanner
            return archive
        }
    }

    /// Reads the next value, which must be an array of strings.
    ///
    /// - Throws: ``JSONError`` if it is anything else.
    package mutating func strings() throws(JSONError) -> [Element] {
        try reading { scanner throws(JSONFault) in
            var ahead = scanner
            let strings = try ahead.strings()
            scanner = ahead
            return strings
        }
    }

    /// Skips the next value, even if it cannot be an archive.
    ///
    /// - Throws: ``JSONError`` if it is not JSON.
    package mutating func skipValue() throws(JSONError) {
        let limits = limits
        try reading { scanner throws(JSONFault) in
            var parser = JSONParser(scanner, limits: limits)
            try parser.skipValue()
            scanner = parser.scanner
        }
    }

    /// The line of a byte of the text, and the column in code points, both from 1.
    package func place(ofByte offset: Int) -> (line: Int, column: Int) {
        JSONFault.place(of: offset, in: text)
    }

    private mutating func reading<Result>(
        _ read: (inout JSONScanner) throws(JSONFault) -> Result
    ) throws(JSONError) -> Result {
        do throws(JSONFault) {
            return try read(&scanner)
        } catch {
            throw error.error(in: text)
        }
    }
}

extension JSONScanner {
    /// Reads a key and the colon after it, or the end of the object, and of the text if it is the outermost.
    fileprivate mutating func key(
        isFirst: Bool, isOutermost: Bool
    ) throws(JSONFault) -> JSONObjectReader.Element? {
        skipSpace()
        if skip(UInt8(ascii: "}")) {
            guard isOutermost else { return nil }
            skipSpace()
            guard isAtEnd else { throw fault("There is more text after the end of the object.") }
            return nil
        }
        guard isFirst || skip(UInt8(ascii: ",")) else {
            throw fault("A comma or the closing } is expected here.")
        }
        return try key()
    }

    /// Reads a key and the colon after it.
    mutating func key() throws(JSONFault) -> JSONObjectReader.Element {
        skipSpace()
        let start = offset
        guard next == UInt8(ascii: "\"") else {
            // An empty object has ended before: this is the end only after a comma.
            throw next == UInt8(ascii: "}")
                ? fault(
                    "A key in quotation marks is expected here, after the comma. Remove the comma.")
                : fault("A key in quotation marks is expected here.")
        }
        let key = JSONObjectReader.Element(text: try string(), offset: start)
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw fault("A colon is expected after the key.") }
        return key
    }

    /// Reads up to an element of an array, or its end.
    fileprivate mutating func element(_ isFirst: Bool) throws(JSONFault) -> Bool {
        skipSpace()
        if skip(UInt8(ascii: "]")) { return false }
        guard isFirst || skip(UInt8(ascii: ",")) else {
            throw fault("A comma or the closing ] is expected here.")
        }
        skipSpace()
        guard next != UInt8(ascii: "]") else {
            throw fault("A value is expected here, after the comma. Remove the comma.")
        }
        return true
    }

    /// Reads an array of strings.
    fileprivate mutating func strings() throws(JSONFault) -> [JSONObjectReader.Element] {
        skipSpace()
        guard skip(UInt8(ascii: "[")) else { throw fault("An array of strings is expected here.") }
        var elements: [JSONObjectReader.Element] = []
        skipSpace()
        guard !skip(UInt8(ascii: "]")) else { return [] }
        repeat {
            skipSpace()
            let start = offset
            guard next == UInt8(ascii: "\"") else {
                throw next == UInt8(ascii: "]")
                    ? fault("A string is expected here, after the comma. Remove the comma.")
                    : fault("A string is expected here.")
            }
            elements.append(.init(text: try string(), offset: start))
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else {
            throw fault("A comma or the closing ] is expected here.")
        }
        return elements
    }
}
