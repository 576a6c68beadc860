extension KeyedArchive {
    /// The value form of the archive in JSON, in UTF-8: the same archive gives the same bytes.
    ///
    /// - Parameters:
    ///   - isPretty: Whether each element stands on a line of its own, indented.
    ///   - opensArchives: Whether keyed archives inside data are shown as values too, instead of in
    ///     base64: `{"$data": {"$archive": …}}`. That is for reading; no archive is made of it again.
    /// - Throws: ``ArchiveError`` where the output would be larger or deeper than the limits.
    public func json(
        isPretty: Bool = false, opensArchives: Bool = false, limits: ValueFormLimits = .standard
    ) throws -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty)
        guard opensArchives else {
            try render(into: &writer, limits: limits)
            return writer.output
        }
        var opener = ArchiveOpener(into: writer, limits: limits)
        try render(into: &opener, limits: limits)
        return opener.sink.output
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
