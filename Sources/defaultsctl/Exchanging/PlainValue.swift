import DomainForms
import KeyedArchive
import PropertyList
import XMLPropertyList

/// Whether a property list supports a value: it has no object and no nil, and is not too large or
/// too deep to be read back.
struct PlainValue: PassiveSink {
    /// The value is not plain.
    private struct OtherValue: Error {}

    /// Whether it is for XML, which supports only dates of the calendar and few control characters.
    private let isForXML: Bool
    /// For each open collection, whether any keys may come next.
    private var takesAnyKeys: [Bool] = []
    /// Whether its property list could be mistaken for an archive.
    private var resemblesArchive = false

    /// The domain itself is one level of the property list.
    private static let deepest = PropertyList.Limits.domain.depth - 1

    private init(isForXML: Bool) {
        self.isForXML = isForXML
    }

    static func holds(_ archive: KeyedArchive, forXML isForXML: Bool) throws -> Bool {
        var sink = DateFolding(into: PlainValue(isForXML: isForXML))
        do {
            try archive.render(into: &sink)
            return try !sink.sink.resemblesArchive || isReadBack(archive, forXML: isForXML)
        } catch is OtherValue {
            return false
        } catch is ArchiveError {
            // Written out with all shared parts, it is larger than anything that is read.
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

    /// Keys for objects and references begin with `$`.
    mutating func key(_ key: Text) throws {
        let isSpelling = key.hasPrefix("$") && takesAnyKeys.last != true
        if isSpelling || key == "CF$UID" { throw OtherValue() }
        if takesAnyKeys.count == 1, PropertyListEntries.mayBeKeyOfArchive(key) {
            resemblesArchive = true
        }
        try check(key)
    }

    /// Whether the property list of a value is read back as that value, and not as an archive.
    private static func isReadBack(_ archive: KeyedArchive, forXML isForXML: Bool) throws -> Bool {
        var sink = DateFolding(into: PropertyListSink(hasWholeSeconds: isForXML))
        let key = sink.sink.writer.add(string: "value")
        try archive.render(into: &sink)
        guard let value = sink.sink.value else { return false }
        let root = sink.sink.writer.add(keys: [key], values: [value])
        let entries = PropertyListEntries(of: sink.sink.writer.finishList(root: root))
        return try entries?.archive(at: 0).isSame(as: archive) == true
    }

    private func check(_ text: Text) throws {
        if isForXML, !XMLPropertyList.canHold(text) { throw OtherValue() }
    }

    mutating func beginArray() throws { try begin(anyKeys: false) }
    mutating func beginDictionary() throws { try begin(anyKeys: false) }
    mutating func endArray() { takesAnyKeys.removeLast() }
    mutating func endDictionary() { takesAnyKeys.removeLast() }

    mutating func beginDictionaryOfAnyKeys() throws -> Bool {
        try begin(anyKeys: true)
        return true
    }

    private mutating func begin(anyKeys: Bool) throws {
        guard takesAnyKeys.count < Self.deepest else { throw OtherValue() }
        takesAnyKeys.append(anyKeys)
    }
}
