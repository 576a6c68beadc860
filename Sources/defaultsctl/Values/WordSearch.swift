import KeyedArchive
import PropertyList

/// Looks for a word in the strings, the keys and the dates of a value, whatever the case.
struct WordSearch: OnlookingSink {
    /// The word is there; no more of the value is needed.
    private struct Found: Error {}

    private let word: String

    init(for word: String) {
        self.word = word.lowercased()
    }

    /// Whether a text has the word.
    func matches(_ text: String) -> Bool {
        // Nothing is in no text, as macOS's tool has it.
        !word.isEmpty && text.lowercased().contains(word)
    }

    /// Whether a string, a key or a date of the value, however deep, has the word, as far as the value
    /// can be shown.
    func matches(_ archive: KeyedArchive) throws -> Bool {
        var sink = DateFolding(into: self)
        do {
            try archive.render(into: &sink)
            return false
        } catch is Found {
            return true
        } catch is ArchiveError {
            return false
        }
    }

    func string(_ value: Text) throws {
        if matches(value.description) { throw Found() }
    }

    func date(_ secondsSince2001: Double) throws {
        // The second by itself counts too, as people leave out a fraction.
        let spellings = [
            ISODate.text(secondsSince2001: secondsSince2001),
            CalendarDate(secondsSince2001: secondsSince2001)?.description,
        ]
        if spellings.compactMap(\.self).contains(where: matches) { throw Found() }
    }

    func key(_ key: Text) throws {
        // What only spells an object is no part of it.
        if !key.hasPrefix("$"), matches(key.description) { throw Found() }
    }
}
