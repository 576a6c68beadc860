internal import PropertyList

extension KeyedArchive {
    /// The value form of the archive as JSON in UTF-8.
    ///
    /// The same archive gives the same bytes.
    ///
    /// - Parameters:
    ///   - isPretty: Whether each element is on its own line, with indentation.
    ///   - opensArchives: Whether keyed archives inside data are also shown as values, instead of
    ///     in base64: `{"$data": {"$archive": …}}`. This form cannot be read back.
    ///   - hasISODates: Whether dates are in ISO 8601, as `{"$date": "2024-02-29T12:00:01Z"}`,
    ///     instead of seconds since 2001. Both spellings read back as the same archive. A date that
    ///     ISO 8601 cannot spell exactly is written in seconds.
    ///   - limits: The limits for the size and the depth of the output.
    /// - Throws: ``ArchiveError`` if the output, including brackets and spaces, would exceed the
    ///   limits.
    public func json(
        isPretty: Bool = false, opensArchives: Bool = false, hasISODates: Bool = false,
        limits: ValueFormLimits = .standard
    ) throws -> [UInt8] {
        let writer = JSONWriter(isPretty: isPretty, hasISODates: hasISODates, limit: limits.size)
        guard hasISODates else {
            return try written(into: writer, opensArchives: opensArchives, limits: limits).output
        }
        let folding = DateFolding(into: writer, foldsIntegers: false) { try $0.isoDateObject($1) }
        return try written(into: folding, opensArchives: opensArchives, limits: limits).sink.output
    }

    private func written<Sink: ValueFormSink>(
        into sink: Sink, opensArchives: Bool, limits: ValueFormLimits
    ) throws -> Sink {
        guard opensArchives else {
            var sink = sink
            try write(into: &sink, limits: limits)
            return sink
        }
        var opener = ArchiveOpener(into: sink, limits: limits)
        try write(into: &opener, limits: limits)
        return opener.sink
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

    /// Makes an archive from a value in JSON.
    ///
    /// The layout of the JSON does not affect the bytes of the archive.
    ///
    /// ```swift
    /// let archive = try KeyedArchive(json: #"{"$class": "Account", "username": "ada"}"#)
    /// ```
    ///
    /// - Throws: ``JSONError`` with the line and column of the first fault.
    public init(json text: String, limits: ValueFormLimits = .standard) throws(JSONError) {
        try self.init(json: Array(text.utf8), limits: limits)
    }

    /// Makes an archive from a value in JSON, in UTF-8, or in UTF-16 with a byte order mark.
    ///
    /// - Throws: ``JSONError`` with the line and column of the first fault.
    public init(json text: [UInt8], limits: ValueFormLimits = .standard) throws(JSONError) {
        let text = ByteOrderMark.removed(from: text)
        var parser = JSONParser(JSONScanner(text), limits: limits)
        do throws(JSONFault) {
            self = try parser.parse()
        } catch {
            throw error.error(in: text)
        }
    }
}
