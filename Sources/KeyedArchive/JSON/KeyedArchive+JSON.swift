extension KeyedArchive {
    /// The value form of the archive in JSON, in UTF-8: the same archive gives the same bytes.
    ///
    /// - Parameters:
    ///   - isPretty: Whether each element stands on a line of its own, indented.
    ///   - opensArchives: Whether keyed archives inside data are shown as values too, instead of in
    ///     base64: `{"$data": {"$archive": …}}`. That is for reading; no archive is made of it again.
    ///   - limits: How large the output may be, and how deep.
    /// - Throws: ``ArchiveError`` where the output, with all brackets and spaces, would be larger or
    ///   deeper than the limits.
    public func json(
        isPretty: Bool = false, opensArchives: Bool = false, limits: ValueFormLimits = .standard
    ) throws -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty, limit: limits.size)
        guard opensArchives else {
            try write(into: &writer, limits: limits)
            return writer.output
        }
        var opener = ArchiveOpener(into: writer, limits: limits)
        try write(into: &opener, limits: limits)
        return opener.sink.output
    }

    private func write(
        into sink: inout some ValueFormSink, limits: ValueFormLimits
    ) throws {
        var renderer = ValueFormRenderer(of: self, limits: limits)
        do {
            try renderer.render(into: &sink)
        } catch is JSONWriter.OutputIsFull {
            throw ArchiveError.outputTooLarge(limit: limits.size, at: renderer.byteOffset)
        }
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
        var parser = JSONParser(JSONScanner(text), limits: limits)
        do throws(JSONFault) {
            self = try parser.parse()
        } catch {
            throw error.error(in: text)
        }
    }
}
