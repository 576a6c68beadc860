import KeyedArchive
import OpenStepPropertyList
import PropertyList

/// The values that a program was given on its command line, as `-PlaySound NO`.
///
/// They are in effect for this run of the program. They are stronger than the user's own values, and
/// weaker than those that the administrator prescribes.
struct ArgumentDomain {
    /// The words after the last `-Key`, by key.
    let entries: [KeyName: Entry]

    /// Reads each word that begins with one hyphen as a key, if the next word is not a key.
    ///
    /// A number may begin with a hyphen.
    ///
    /// - Parameter arguments: The words of the command line, the name of the program first.
    init(_ arguments: [String]) {
        var entries: [KeyName: Entry] = [:]
        var words = arguments.dropFirst()[...]
        while let word = words.popFirst(), word != "--" {
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word.utf8.count > 1,
                let value = words.first, !Self.isKey(value)
            else { continue }
            words.removeFirst()
            entries[KeyName(String(word.dropFirst()))] = Entry(.argument(value))
        }
        self.entries = entries
    }

    private static func isKey(_ word: String) -> Bool {
        let bytes = word.utf8
        guard bytes.first == UInt8(ascii: "-"), let second = bytes.dropFirst().first else {
            return false
        }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
            && second != UInt8(ascii: ".")
    }

    /// The possible values of a word: the word itself, a boolean such as YES or NO, a value in JSON, or an
    /// array or a dictionary in the old style, such as `(a, b)`.
    static func archives(of word: String) -> [KeyedArchive] {
        var archives: [KeyedArchive] = []
        func add(_ archive: KeyedArchive?) {
            if let archive { archives.append(archive) }
        }
        add(try? KeyedArchiveEncoder().encode(word))
        switch word.lowercased() {
        case "yes", "true", "y", "t", "1": add(try? KeyedArchiveEncoder().encode(true))
        case "no", "false", "n", "f", "0": add(try? KeyedArchiveEncoder().encode(false))
        default: break
        }
        add(try? KeyedArchive(json: word))
        if word.hasPrefix("(") || word.hasPrefix("{") { add(try? archive(ofList: word)) }
        return archives
    }

    private static func archive(ofList word: String) throws -> KeyedArchive {
        let list = try PropertyList(openStep: Array(word.utf8))
        var builder = ValueFormBuilder()
        try PropertyListForm(of: list).render(list.root, into: &builder)
        return builder.finish()
    }
}
