/// A verb whose words may be spelled as macOS's `defaults` has them.
///
/// The other verbs are ours alone, and ArgumentParser reads their words as they are.
enum Verb: String, CaseIterable {
    case read
    case readType = "read-type"
    case write
    case rename
    case delete
    case deleteAll = "delete-all"
    case domains
    case keys
    case find
    case `import`
    case export
    case watch
    case inspect
    case explain
    case locked

    /// Finds a verb, which macOS takes in any case, and `remove` for `delete`.
    init?(word: String) {
        let name = word.lowercased()
        guard let verb = Verb(rawValue: name == "remove" ? "delete" : name) else { return nil }
        self = verb
    }

    /// Whether the first word behind the verb is a domain.
    var takesDomain: Bool {
        switch self {
        case .domains, .find: false
        default: true
        }
    }

    /// Whether the verb is for a host also where it names no domain.
    var takesHostAlone: Bool {
        switch self {
        case .read, .domains, .find: true
        default: false
        }
    }

    /// Our flags of the verb that have one hyphen.
    var shortFlags: Set<String> {
        switch self {
        case .domains, .keys: ["-0"]
        default: []
        }
    }

    /// All our options of `write`.
    static let writeOptions: Set<String> = Verb.write.optionsWithValue.union([
        "--wait", "--changed", "--current-host", "--host", "--help", "--version",
        "--generate-completion-script",
    ])

    /// Our options of the verb that take a word of their own.
    var optionsWithValue: Set<String> {
        switch self {
        case .read, .watch: ["--path"]
        case .delete: ["--path", "--if-generation"]
        case .write: ["--path", "--json", "--archive", "--if-generation"]
        case .import: ["--format", "--key"]
        case .export: ["--format"]
        case .readType: ["--path"]
        case .inspect: ["--path", "--color"]
        default: []
        }
    }
}
