/// The words with which a document says more than a plain value.
package enum DocumentWord: String {
    /// Keys that have no value: names, and beginnings with a `*`.
    case remove = "$remove"
    /// Values that are set once, and are the user's from then on.
    case once = "$once"
    /// Elements that a list has.
    case ensure = "$ensure"
    /// Elements that a list does not have.
    case without = "$without"
    /// Entries of a dictionary, or fields of an object.
    case merge = "$merge"
    /// Locks, in files of administrators only.
    case locked = "$locked"
    /// Where an editor finds the JSON Schema; ignored.
    case schema = "$schema"
    /// A note of the author; ignored.
    case comment = "$comment"
    /// The version of the document's form.
    case defaults = "$defaults"

    /// Those that mean nothing to defaultsd, and may be in each dictionary but values.
    static let ofNotes: Set<String> = [DocumentWord.schema.rawValue, DocumentWord.comment.rawValue]

    /// Those that may stand in place of a value.
    static let ofValue: Set<DocumentWord> = [.ensure, .without, .merge]
}

extension DocumentError {
    static func noWordOfKeys(_ word: String, at place: Place?) -> DocumentError {
        DocumentError(
            "'\(word)' is not a word of documents. As a key of a domain these are: $comment, $once, $remove, "
                + "$schema. A key of this name is spelled $\(word).", at: place)
    }

    static func misplaced(_ word: String, at place: Place?) -> DocumentError {
        guard DocumentWord(rawValue: word) != nil else {
            let known = DocumentWord.ofValue.map(\.rawValue).sorted().joined(separator: ", ")
            return DocumentError(
                "'\(word)' is not a word of documents. In place of a value these are: \(known).",
                at: place)
        }
        return DocumentError(
            "'\(word)' cannot stand here: a word stands alone in place of a value, not inside one.",
            at: place)
    }
}
