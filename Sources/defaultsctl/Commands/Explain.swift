import ArgumentParser
import DefaultsClient

struct Explain: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows which layers have a key, and which value applies.",
        usage: """
            defaultsctl explain [--json] [--iso-dates] <domain> <key>
            defaultsctl explain [--json] <domain>
            """,
        discussion: """
            The layers are listed in the order in which an application searches them, the \
            strongest first: managed, global-managed, host, domain, global-host, global, system \
            and global-system. An arrow marks the value that applies. After the value come a lock, \
            if there is one, and the file of the value or the lock. If the user has set the value \
            that applies, the line after them says when, and who and by which action, if the history \
            knows it. If an installed GSettings \
            schema has the key, the last lines say what it is, which values it may have, and its \
            default, which applies if no layer has a value.

            Without a key, this lists all keys of the domain that are managed, locked, or in \
            several layers. Each line shows the layer that applies, its state, the weaker layers \
            that it overrides, and the file. Locks of several keys end with a *.
            """)

    @Argument(help: "The domain, such as org.example.Game.")
    var domain: String

    @Argument(help: "The key; without it, all keys that are managed, locked or overridden.")
    var key: String?

    @Flag(help: "Print one JSON object. If a key is given, values are complete.")
    var json = false

    @OptionGroup var dates: DatesOption

    func validate() throws {
        if dates.isoDates, key == nil {
            throw ValidationError("--iso-dates is for the values of a key. Give the key.")
        }
    }

    func check() throws { try SearchedDomain.check(domain) }

    func run(with defaults: RemoteDefaults) async throws {
        guard let key else {
            let explanation = try await DomainExplanation(of: domain, asking: defaults)
            if json { return try SafeOutput.print(json: explanation.json) }
            return try SafeOutput.print(explanation.text)
        }
        if json {
            let explanation = try await Explanation(of: key, in: domain, asking: defaults)
            return try SafeOutput.print(json: explanation.json(hasISODates: dates.isoDates))
        }
        let explanation = try await Explanation(
            of: key, in: domain, largest: Explanation.largestShown, asking: defaults)
        try SafeOutput.print(explanation.text(hasISODates: dates.isoDates))
    }
}

extension Explain: ArrangedVerb {
    static func completedDomains(with options: Set<String>) -> CompletedDomains { .searched }
}
