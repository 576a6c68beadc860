public import PropertyList

extension PropertyList {
    /// Reads a property list in the old style of OpenStep, in UTF-8.
    ///
    /// It is strings, bare where they are only of ASCII letters, digits and `_$/:.-`, else between `"`
    /// or `'` with escapes (`\n`, `\101` octal, `\U00e9` a UTF-16 code unit); `(`arrays`)`; `{`
    /// dictionaries`}` of `key = value;`; and data, `<0fbe>`. Entries may stand without braces, as in
    /// a `.strings` file. Numbers, booleans and dates are strings but in GNUstep's extension: `<*I5>`,
    /// `<*R1.5>`, `<*BY>`, `<*D2001-01-01 00:00:00 +0000>`.
    ///
    /// ```swift
    /// let list = try PropertyList(openStep: Array("{ title = Dune; pages = <*I412>; }".utf8))
    /// ```
    ///
    /// Of equal keys the last one counts, in the place of the first.
    ///
    /// - Parameter repeatedKey: Gets the line and column of the first key that its dictionary has had
    ///   already.
    /// - Throws: ``OpenStepError`` with the line and column of the first thing found wrong.
    public init(
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
