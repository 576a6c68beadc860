import KeyedArchive
import PropertyList

/// Searches the strings, keys and dates of a value for a word, ignoring case, and its numbers and
/// booleans for the same value.
struct WordSearch: PassiveSink {
    /// The word was found, and the rest of the value is not needed.
    private struct Found: Error {}

    private let word: String
    /// The number that the word is; nil if it is not one.
    private let number: Double?

    init(for word: String) {
        self.word = word.lowercased()
        let (value, isWhole) = NumberWords.real(word)
        number = isWhole && !word.isEmpty ? value : nil
    }

    /// Whether a text contains the word.
    func matches(_ text: String) -> Bool {
        // As with macOS's tool, an empty word is found nowhere.
        !word.isEmpty && text.lowercased().contains(word)
    }

    /// Whether a string, a key or a date anywhere in the value contains the word, or a number or a
    /// boolean is the word, as far as the value can be shown.
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

    func boolean(_ value: Bool) throws {
        // It is printed as 1 or 0, and as true or false in JSON.
        if word == "\(value)" || number == (value ? 1 : 0) { throw Found() }
    }

    func integer(_ value: Int128) throws {
        // A large integer is not the same as its nearest real.
        if word == "\(value)" || Double(value) == number && Int128(word) == nil { throw Found() }
    }

    func real(_ value: Double) throws {
        if value == number || value.isNaN && number?.isNaN == true { throw Found() }
    }

    func date(_ secondsSince2001: Double) throws {
        // The date is also compared without its fraction, as people often omit it.
        let spellings = [
            ISODate.text(secondsSince2001: secondsSince2001),
            CalendarDate(secondsSince2001: secondsSince2001)?.description,
        ]
        if spellings.compactMap(\.self).contains(where: matches) { throw Found() }
    }

    func key(_ key: Text) throws {
        // Keys that only spell an object are not part of the value.
        if !key.hasPrefix("$"), matches(key.description) { throw Found() }
    }
}
