/// A word that may be typed next, and what it stands for.
struct Candidate: Equatable {
    let word: String
    /// What it is, in a few words; empty where the word says it.
    var note = ""

    /// One line for the scripts of the shells, which split it at the tab.
    ///
    /// Nil for a word that no line can carry.
    var line: String? {
        guard !word.contains(where: \.isNewline), !word.contains("\t") else { return nil }
        return note.isEmpty ? word : "\(word)\t\(note.onOneLine)"
    }
}
