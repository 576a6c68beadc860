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

    /// Whether XML has a spelling for each object, so that ``xml(limit:)`` gives them.
    public var isSpelledInXML: Bool {
        indices.allSatisfy { index in
            switch value(at: index) {
            case .string: text(at: index).map(XMLPropertyList.canHold) ?? false
            case .date(let seconds):
                CalendarDate(secondsSince2001: seconds)?.secondsSince2001 == seconds
            case .dictionary(let keys, let values):
                keys.count != 1 || self.value(ofKey: "CF$UID", keys: keys, values: values) == nil
            case .set, .orderedSet: false
            default: true
            }
        }
    }
}

extension XMLPropertyList {
    /// Whether a text has only characters that XML allows.
    public static func canHold(_ text: Text) -> Bool {
        text.string?.unicodeScalars.allSatisfy(XMLWriter.isCharacter) ?? false
    }
}
