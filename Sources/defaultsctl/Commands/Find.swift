import ArgumentParser
import DefaultsClient
import KeyedArchive
import Wording

struct Find: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Prints the keys that contain a word, or whose values do.",
        discussion: """
            The word is searched in the names of domains, in keys, in strings and in dates, also \
            inside other values. Case does not matter. A number or a boolean is found by its whole \
            value, such as 42, 0.5 or true. Dates are searched and printed in ISO 8601 \
            and UTC, such as 2024-02-29T12. Exit status: 0, or 1 if nothing was found.
            """)

    @Argument(help: "The word.")
    var word: String

    @Flag(help: "Print JSON, in which every value keeps its type.")
    var json = false

    @OptionGroup var dates: DatesOption

    @OptionGroup var host: HostOption

    func validate() throws { try dates.validate(isJSON: json) }

    func run(with defaults: RemoteDefaults) async throws {
        let search = WordSearch(for: word)
        var found: [(name: String, entries: [DefaultsEntry])] = []
        for (name, layer) in try await host.domains(of: defaults) {
            let isDomain = search.matches(name)
            let entries = try await defaults.entries(in: layer).entries.filter { entry in
                try isDomain || search.matches(entry.key) || search.matches(entry.archive)
            }
            if !entries.isEmpty { found.append((name, entries)) }
        }
        if json { try printJSON(found) }
        guard !found.isEmpty else { return try tellNothing() }
        if !json { try printText(found) }
    }

    /// Says that nothing was found, which is not a failure on macOS.
    private func tellNothing() throws {
        let nothing = ToolError.nothingFound(word)
        guard ProgramName.current == .defaults else { throw nothing }
        Complaint.say(nothing)
    }

    /// How many keys were found, in the words of macOS for its name: scripts look for "1 keys".
    private static func amount(_ count: Int) -> String {
        ProgramName.current == .defaults ? "\(count) keys" : counted(count, "key")
    }

    private func printText(_ found: [(name: String, entries: [DefaultsEntry])]) throws {
        var failure: ToolError?
        for (name, entries) in found {
            var listing = Listing(hasISODates: true)
            try listing.add(entries)
            failure = failure ?? listing.failure
            try SafeOutput.print(
                "Found \(Self.amount(entries.count)) in domain '\(name.domainTitle)': "
                    + listing.text)
        }
        if let failure { throw failure }
    }

    private func printJSON(_ found: [(name: String, entries: [DefaultsEntry])]) throws {
        var listing = JSONListing(hasISODates: dates.isoDates)
        try SafeOutput.print(json: listing.object(of: found))
        if let failure = listing.failure { throw failure }
    }
}

extension Find: ArrangedVerb {
    static var takesDomain: Bool { false }
    static var takesHostAlone: Bool { true }
}
