/// The flags of `write` that tell the type of a value.
enum TypeFlag {
    private static let flags: [(String, String)] = [
        ("-string", "a string"), ("-int", "an integer"), ("-float", "a real number"),
        ("-bool", "true or false"), ("-data", "bytes in hexadecimal"), ("-date", "a date"),
        ("-array", "an array of the values that follow"),
        ("-array-add", "values behind those of the array that is there"),
        ("-dict", "a dictionary of the keys and values that follow"),
        ("-dict-add", "keys and values beside those of the dictionary that is there"),
    ]

    /// What may come next of a value.
    static func candidates(after words: [String]) -> [Candidate] {
        switch words.last {
        case "-bool", "-boolean": ["true", "false"].map { Candidate(word: $0) }
        case nil: flags.map { Candidate(word: $0.0, note: $0.1) }
        default: []
        }
    }
}
