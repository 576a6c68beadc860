import ArgumentParser

/// A command whose words ``CommandWords`` arranges before ArgumentParser parses them.
///
/// These are all verbs that take a domain or a host, also those that macOS's `defaults` does not have.
/// Each command repeats here what its options and flags declare, and a test compares the two. The
/// words of all other commands go to ArgumentParser unchanged.
protocol ArrangedVerb: ParsableCommand {
    /// Whether the first word after the verb is a domain.
    static var takesDomain: Bool { get }
    /// Whether the first word may also be the path of a file.
    static var takesFile: Bool { get }
    /// Whether the first word may be a domain that does not exist yet.
    static var makesDomains: Bool { get }
    /// Whether the words after the domain and the key are a value.
    static var takesValue: Bool { get }
    /// Whether a host may be given without a domain.
    static var takesHostAlone: Bool { get }
    /// The flags that have one hyphen.
    static var shortFlags: Set<String> { get }
    /// The options that take the next word as their value, except those of ``HostOption``.
    static var optionsWithValue: Set<String> { get }
    /// All flags and options, if an unknown word that begins with two hyphens is refused here; nil
    /// if ArgumentParser refuses it.
    static var allOptions: Set<String>? { get }
    /// The domains that completion offers for the first word.
    static func completedDomains(with options: Set<String>) -> CompletedDomains
}

extension ArrangedVerb {
    static var takesDomain: Bool { true }
    static var takesFile: Bool { false }
    static var makesDomains: Bool { false }
    static var takesValue: Bool { false }
    static var takesHostAlone: Bool { false }
    static var shortFlags: Set<String> { [] }
    static var optionsWithValue: Set<String> { [] }
    static var allOptions: Set<String>? { nil }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .written }

    /// The word for the verb.
    static var verb: String { _commandName }
}

extension Defaultsctl {
    /// The command of a verb.
    ///
    /// Like on macOS, case does not matter, and `remove` means `delete`.
    static func arrangedVerb(_ word: String) -> (any ArrangedVerb.Type)? {
        let name = word.lowercased()
        return subcommand(name == "remove" ? Delete.verb : name) as? any ArrangedVerb.Type
    }
}
