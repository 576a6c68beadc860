/// What commands take for another domain than the word says, so that the tools of macOS find what they expect.
package enum CommandSpelling {
    /// The ending of the files in which macOS stores domains.
    package static let fileEnding = ".plist"

    private static let globalNames: Set<String> = [
        GlobalDomain.name, "Apple Global Domain", "kCFPreferencesAnyApplication",
        ".GlobalPreferences",
    ]
    /// Spellings of the global domain that begin with a hyphen, for which case does not matter.
    private static let globalFlags: Set<String> = ["-g", "-globaldomain"]

    /// Whether a word means the global domain.
    package static func isGlobal(_ word: String) -> Bool {
        globalNames.contains(word) || isGlobalFlag(word)
    }

    /// Whether it does, and can only be a domain, and not a file.
    package static func isGlobalFlag(_ word: String) -> Bool {
        globalFlags.contains(word.lowercased())
    }

    /// The domain that a word means; nil if it is the one that it says.
    package static func domain(_ word: String) -> String? {
        let name = word.hasSuffix(fileEnding) ? String(word.dropLast(fileEnding.count)) : word
        let meant = isGlobal(name) ? GlobalDomain.name : name
        return meant == word || meant.isEmpty ? nil : meant
    }
}
