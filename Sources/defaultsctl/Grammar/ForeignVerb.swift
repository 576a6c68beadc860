/// The verbs that other tools have for what this one does: gsettings, dconf, xfconf-query, git.
enum ForeignVerb {
    private static let lines: [String: String] = [
        "get": "read DOMAIN KEY", "show": "read DOMAIN KEY", "print": "read DOMAIN KEY",
        "cat": "read DOMAIN", "list-recursively": "read DOMAIN", "query": "read DOMAIN KEY",
        "set": "write DOMAIN KEY VALUE", "put": "write DOMAIN KEY VALUE",
        "add": "write DOMAIN KEY VALUE", "list": "domains", "ls": "domains",
        "list-schemas": "domains", "list-keys": "keys DOMAIN", "list-children": "keys DOMAIN",
        "unset": "delete DOMAIN KEY", "reset": "delete DOMAIN KEY", "rm": "delete DOMAIN KEY",
        "reset-recursively": "delete DOMAIN", "clear": "delete DOMAIN",
        "mv": "rename DOMAIN KEY NEW-KEY", "move": "rename DOMAIN KEY NEW-KEY",
        "dump": "export DOMAIN -", "save": "export DOMAIN FILE", "load": "import DOMAIN FILE",
        "restore": "backup restore latest", "monitor": "watch DOMAIN", "follow": "watch DOMAIN",
        "search": "find WORD", "grep": "find WORD", "describe": "explain DOMAIN KEY",
        "writable": "locked DOMAIN KEY", "is-writable": "locked DOMAIN KEY",
        "check": "doctor", "validate": "lint", "type": "read-type DOMAIN KEY",
        "edit": "write DOMAIN KEY VALUE", "wipe": "factory-reset", "reset-all": "factory-reset",
    ]

    /// The sentence for a word that is a verb elsewhere, with the line that does the same here.
    static func answer(to word: String) -> String? {
        guard let line = lines[word.lowercased()] else { return nil }
        let verb = line.prefix { $0 != " " }
        return "'\(word.inBrief)' is '\(verb)' here: defaultsctl \(line)"
    }
}
