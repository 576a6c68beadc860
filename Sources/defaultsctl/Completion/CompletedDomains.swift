/// What kind of domain a verb takes.
enum CompletedDomains {
    /// One layer, of the user's own.
    case written
    /// One layer, which may be one of files.
    case read
    /// All layers, by the name without a suffix.
    case searched
}

extension TypedLine {
    /// What kind of domain is meant by what is typed.
    var domains: CompletedDomains {
        Defaultsctl.macVerb(command.commandName)?.completedDomains(with: options) ?? .written
    }
}
