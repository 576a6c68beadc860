import ArgumentParser
import DefaultsClient

struct Watch: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints each change as it is made, until interrupted.",
        discussion: """
            Prints a line for each key: its new value, its old value, and the program that changed \
            it. On a terminal, values are cut so that each line fits. Changes of one key that come faster than they can be read are reported as one. It \
            continues when the service restarts, and then reports what has changed meanwhile. It \
            ends with status 0 when it is interrupted, or when its reader goes away.
            """)

    static let needsBus = true

    @Argument(help: "The domain to watch, in all layers or one; without it, all domains.")
    var domain: String?

    @Argument(help: "The key to watch; without it, all keys of the domain.")
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
            throw ValidationError("--json and --as-commands cannot be used together.")
        }
        if part.path != nil, key == nil {
            throw ValidationError("--path selects a part of a key's value. Give the key.")
        }
    }

    func run(with defaults: RemoteDefaults) async throws {
        LineOutput.begin()
        LineOutput.endWithReader(along: defaults)
        let form: ChangeForm = asCommands ? .commands : json ? .json : .text
        let hasISODates = dates.isoDates
        let isTerminal = Defaultsctl.console.isTerminal(.output)
        let scope = WatchScope(domain: domain, key: key)
        var watcher = Watcher(defaults, scope: scope, path: part.path) {
            // The width is asked for again, as the window may have another size by now.
            let columns = isTerminal ? Defaultsctl.console.columns(of: .output) : nil
            try LineOutput.print(form.line(of: $0, hasISODates: hasISODates, columns: columns))
        }
        try await watcher.run()
    }
}

extension Watch: ArrangedVerb {
    static var optionsWithValue: Set<String> { ["--path"] }

    static func completedDomains(with options: Set<String>) -> CompletedDomains { .read }
}
