package import KeyedArchive

/// The text of a document, which is read value by value: one for each spelling.
///
/// It begins inside the dictionary that is the whole document. After each key and each element, exactly one of
/// ``enterDictionary()`` and ``enterArray()``, if it returns true, or ``value()`` or ``skipValue()`` is called.
package protocol DocumentSource {
    /// Whether the dictionary that is the whole document has a key. It is asked before anything is read.
    func hasKey(_ key: String) -> Bool
    /// The next key of the dictionary that was entered last; nil at its end, which leaves it.
    mutating func nextKey() throws(DocumentError) -> String?
    /// Enters the next value if it is a dictionary.
    mutating func enterDictionary() throws(DocumentError) -> Bool
    /// Enters the next value if it is an array.
    mutating func enterArray() throws(DocumentError) -> Bool
    /// Whether another element of the array that was entered last comes; the end leaves it.
    mutating func nextElement() throws(DocumentError) -> Bool
    /// A key of the next value that begins with `$` and is not of a value's own spelling; nil if it is a plain
    /// value.
    func word() -> String?
    /// The next value.
    mutating func value() throws(DocumentError) -> KeyedArchive
    /// Passes over the next value.
    mutating func skipValue() throws(DocumentError)
    /// A number for the place of the key or element that was read last: lines are counted for errors only.
    var mark: Int { get }
    /// The place of a mark; nil if it is not known.
    func place(of mark: Int) -> DocumentError.Place?
}

extension DocumentSource {
    /// Where the key or element is that was read last; nil if that is not known.
    var place: DocumentError.Place? { place(of: mark) }
}
