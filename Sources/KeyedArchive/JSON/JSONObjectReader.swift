package import PropertyList

/// Reads a JSON object member by member, each value an archive of its own.
///
/// So a whole domain is read without an archive of all of it, and each thing has its place in the
/// text.
///
/// ```swift
/// var reader = try JSONObjectReader(text)
/// while let key = try reader.nextKey() {
///     values[key] = try reader.value()
/// }
/// ```
///
/// After each key its value is read once, by ``value()`` or ``strings()``. If they throw,
/// ``skipValue()`` skips it. After any other error, except for a repeated key, the reader cannot be
/// used.
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
    private var known: Set<Text> = []
    /// The offset of the key that was read last, in bytes from 0.
    package private(set) var keyOffset = 0

    /// How many bytes have been read.
    package var offset: Int { scanner.offset }

    /// Begins with a text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - limits: How large each of the values may be.
    /// - Throws: ``JSONError`` if it does not begin as an object does.
    package init(_ text: [UInt8], limits: ValueFormLimits = .standard) throws(JSONError) {
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

    /// The key of the next member, which differs from all before; nil if the object and the text
    /// end.
    ///
    /// - Throws: ``JSONError`` if neither comes.
    package mutating func nextKey() throws(JSONError) -> Text? {
        let isFirst = known.isEmpty
        let member = try reading { scanner throws(JSONFault) in
            try scanner.key(isFirst: isFirst)
        }
        guard let member else { return nil }
        keyOffset = member.offset
        guard known.insert(member.text).inserted else {
            throw JSONFault(.duplicateKey, at: member.offset).error(in: text)
        }
        return member.text
    }

    /// The archive of the value that comes next.
    ///
    /// - Throws: ``JSONError``, if the text is wrong or the value can be no archive.
    package mutating func value() throws(JSONError) -> KeyedArchive {
        let limits = limits
        return try reading { scanner throws(JSONFault) in
            var parser = JSONParser(scanner, limits: limits)
            let archive = try parser.parseValue()
            scanner = parser.scanner
            return archive
        }
    }

    /// The elements of the value that comes next, an array of strings.
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

    /// Skips the next value, even if an archive cannot have it.
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
    /// Reads a key and the colon after it, or the end of the object and of the text.
    fileprivate mutating func key(
        isFirst: Bool
    ) throws(JSONFault) -> JSONObjectReader.Element? {
        skipSpace()
        if skip(UInt8(ascii: "}")) {
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
            throw fault("A key in quotation marks is expected here.")
        }
        let key = JSONObjectReader.Element(text: try string(), offset: start)
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw fault("A colon is expected after the key.") }
        return key
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
            guard next == UInt8(ascii: "\"") else { throw fault("A string is expected here.") }
            elements.append(.init(text: try string(), offset: start))
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else {
            throw fault("A comma or the closing ] is expected here.")
        }
        return elements
    }
}
