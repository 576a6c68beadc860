extension KeyedArchive {
    /// The value form of the archive in JSON, in UTF-8: the same archive gives the same bytes.
    ///
    /// - Parameter isPretty: Whether each element stands on a line of its own, indented.
    /// - Throws: ``ArchiveError`` where the output would be larger or deeper than the limits.
    public func json(
        isPretty: Bool = false, limits: ValueFormLimits = .standard
    ) throws -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty)
        try render(into: &writer, limits: limits)
        return writer.output
    }

    /// Makes the archive of a value in JSON.
    ///
    /// The value is the same archive, byte for byte, however it is laid out.
    ///
    /// ```swift
    /// let archive = try KeyedArchive(json: #"{"$class": "Account", "username": "ada"}"#)
    /// ```
    ///
    /// - Throws: ``JSONError`` with the line and column of the first thing found wrong.
    public init(json text: String, limits: ValueFormLimits = .standard) throws(JSONError) {
        try self.init(json: Array(text.utf8), limits: limits)
    }

    /// Makes the archive of a value in JSON, in UTF-8.
    ///
    /// - Throws: ``JSONError`` with the line and column of the first thing found wrong.
    public init(json text: [UInt8], limits: ValueFormLimits = .standard) throws(JSONError) {
        var parser = JSONParser(text, limits: limits)
        do throws(JSONFault) {
            self = try parser.parse()
        } catch {
            throw error.error(in: text)
        }
    }
}
