import ArgumentParser
import DefaultsClient

struct Watch: ServiceCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints each change as it is made, until interrupted.",
        discussion: """
            A line for each key: what it holds now, what it held, and the program that changed it. \
            Changes of one key that come faster than they can be read are one. It goes on over \
            restarts of the service, and tells then what was changed meanwhile. Interrupted, or \
            when nobody reads any more, it ends with status 0.
            """)

    @Argument(help: "The domain to watch, in all its layers or one; without it, all.")
    var domain: String?

    @Argument(help: "The key to watch; without it, all of the domain.")
    var key: String?

    @OptionGroup var part: PathOption

    @Flag(help: "Print a JSON object for each change.")
    var json = false

    @OptionGroup var dates: DatesOption

    @Flag(help: "Print the commands that make the same changes.")
    var asCommands = false

    @OptionGroup var host: HostOption

    func validate() throws {
        if json, asCommands {
            throw ValidationError("--json and --as-commands exclude each other.")
        }
        if part.path != nil, key == nil {
            throw ValidationError("--path leads into the value of a key; name the key.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        guard defaults.isShared else { throw ToolError.nothingToWatch }
        LineOutput.begin()
        LineOutput.endWithReader(along: defaults)
        let form: ChangeForm = asCommands ? .commands : json ? .json : .text
        let hasISODates = dates.isoDates
        let scope = WatchScope(domain: domain, key: key)
        var watcher = Watcher(defaults, scope: scope, path: part.path) {
            try LineOutput.print(form.line(of: $0, hasISODates: hasISODates))
        }
        try await watcher.run()
    }
}

extension Watch: MacVerb {
    static var optionsWithValue: Set<String> { ["--path"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .read }
}
