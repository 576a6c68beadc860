public import PropertyList

extension PropertyList {
    /// The property list in XML, in UTF-8: the same list gives the same bytes.
    ///
    /// Reads as it was, but for 32-bit reals, which come back in 64 bits, and for what the payload of
    /// a NaN is. A collection that several places share is written in each.
    ///
    /// - Parameter limit: The most bytes that are written, about.
    /// - Throws: ``XMLWritingError`` where XML has no spelling for a value: a set, control characters,
    ///   unpaired surrogates, a date with a fraction of a second, a dictionary that would be read as
    ///   a reference. Nothing is changed to make it fit.
    public func xml(limit: Int = 256 << 20) throws(XMLWritingError) -> [UInt8] {
        var writer = XMLWriter(of: self, limit: limit)
        return try writer.write()
    }
}
