import ArgumentParser
import DefaultsClient
import OwnedDocuments

extension DocumentApplication {
    /// Makes the change, and says what it was.
    func runReporting(on defaults: RemoteDefaults, _ change: ChangeOptions) async throws {
        let planned = try await run(on: defaults, isDurable: change.wait)
        if options.json {
            try SafeOutput.print(json: planned.json(for: document.owner))
        } else if options.changesNothing {
            try SafeOutput.print(planned.text())
        }
        for remark in planned.remarks(
            for: document.owner, isPlanned: options.changesNothing)
        where !options.json {
            Complaint.say(remark)
        }
        if options.changesNothing {
            if options.check, !planned.isEmpty { throw Self.somethingToDo }
        } else {
            try await change.report(!planned.isEmpty, on: defaults)
        }
    }

    /// The exit status of `--check` if something is to be done.
    private static let somethingToDo = ExitCode(2)
}
