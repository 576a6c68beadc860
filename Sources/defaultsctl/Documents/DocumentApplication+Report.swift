import ArgumentParser
import DefaultsClient
import OwnedDocuments
import SystemCalls

extension DocumentApplication {
    /// Makes the change, and says what it was.
    func runReporting(on defaults: RemoteDefaults, _ change: ChangeOptions) async throws {
        let planned = try await run(on: defaults, isDurable: change.wait)
        if options.json {
            try SafeOutput.print(json: planned.json(for: document.owner))
        } else if options.changesNothing {
            try SafeOutput.print(planned.text())
        }
        if document.isForOtherHosts {
            Complaint.say(ToolError.otherHosts(than: HostName.current))
        }
        if !options.json {
            planned.say(for: document.owner, isPlanned: options.changesNothing)
        }
        if options.changesNothing {
            if options.check, !planned.isEmpty { throw Self.somethingToDo }
        } else {
            // What holds already may be in memory only.
            if change.wait, planned.isEmpty { try await defaults.synchronize() }
            try await change.report(!planned.isEmpty, on: defaults)
        }
    }

    /// The exit status of `--check` if something is to be done.
    private static let somethingToDo = ExitCode(2)
}
