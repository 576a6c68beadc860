import DefaultsFiles
import KeyedArchive
import PropertyList
import XMLPropertyList

/// Whether a value is one that property lists have: no object, no nil, and nothing that is too large
/// or too deep to be read back.
struct PlainValue: OnlookingSink {
    /// The value is something else.
    private struct OtherValue: Error {}

    /// Whether it is for XML, which has only the dates of the calendar and few control characters.
    private let isForXML: Bool
    private var depth = 0

    /// The domain itself is a level of the property list.
    private static let deepest = PropertyList.Limits.domain.depth - 1

    private init(isForXML: Bool) {
        self.isForXML = isForXML
    }

    static func holds(_ archive: KeyedArchive, forXML isForXML: Bool) throws -> Bool {
        var sink = DateFolding(into: PlainValue(isForXML: isForXML))
        do {
            try archive.render(into: &sink)
            return true
        } catch is OtherValue {
            return false
        } catch is ArchiveError {
            // Written out with all that it shares, it is larger than anything that is read.
            return false
        }
    }

    func null() throws { throw OtherValue() }
    func bytes(_ value: ArraySlice<UInt8>) throws { throw OtherValue() }
    func string(_ value: Text) throws { try check(value) }
    func reference(to uid: UInt64) throws { throw OtherValue() }

    func date(_ secondsSince2001: Double) throws {
        guard !isForXML || CalendarDate(secondsSince2001: secondsSince2001) != nil else {
            throw OtherValue()
        }
    }

    /// What spells an object or a reference begins with `$`.
    func key(_ key: Text) throws {
        if key.hasPrefix("$") || key == "CF$UID" { throw OtherValue() }
        try check(key)
    }

    private func check(_ text: Text) throws {
        if isForXML, !XMLPropertyList.canHold(text) { throw OtherValue() }
    }

    mutating func beginArray() throws { try begin() }
    mutating func beginDictionary() throws { try begin() }
    mutating func endArray() { depth -= 1 }
    mutating func endDictionary() { depth -= 1 }

    private mutating func begin() throws {
        guard depth < Self.deepest else { throw OtherValue() }
        depth += 1
    }
}
