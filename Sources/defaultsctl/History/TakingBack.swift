import ArgumentParser
import DefaultsClient

/// How actions are taken back or done again.
struct TakingBackFlags: ParsableArguments {
    @Flag(help: "Leave keys that cannot be changed, and change the others.")
    var partial = false

    @Flag(help: "Also change keys that were changed since, and print what is replaced.")
    var force = false

    @Flag(help: "Change nothing, and print what would be changed.")
    var dryRun = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var change: ChangeOptions

    func validate() throws {
        guard !dryRun || !(yes || change.wait || change.changed) else {
            throw ValidationError(
                "--dry-run changes nothing, so --yes, --wait and --changed mean nothing.")
        }
    }
}

/// The conversation about actions that are taken back or done again: it shows what that means, asks, and
/// does it.
///
/// Invariants:
/// 1. What is done is what was shown: the numbers of the actions, and how far they went. If one has gone on
///    meanwhile, the service refuses, and it is shown and asked again.
/// 2. Nothing is changed without an answer or `--yes`.
struct TakingBack {
    let flags: TakingBackFlags
    let defaults: RemoteDefaults

    /// How often it is shown and asked because something has changed meanwhile.
    private static let mostQuestions = 5

    func run(_ target: TakingBackTarget) async throws {
        var (target, rest) = (target, Self.mostQuestions)
        while true {
            do {
                return try await offer(target)
            } catch let error where Self.isChange(error) {
                rest -= 1
                guard !flags.yes, !flags.dryRun, Confirmation.canBeAsked, rest > 0 else {
                    throw error
                }
                Complaint.say(
                    "Something has changed meanwhile. Nothing was changed by this command.")
                target = try await target.refreshed(by: defaults)
            }
        }
    }

    /// Whether an error says that what was shown is not so any more.
    private static func isChange(_ error: any Error) -> Bool {
        error is ChangedMeanwhile || (error as? DefaultsError)?.code == .conflict
    }

    /// Shows what is to be done, and does it if that is wanted.
    private func offer(_ target: TakingBackTarget) async throws {
        let plan = try await plan(target)
        if plan.isEmpty, plan.blockedCount == 0 { throw nothing(of: plan) }
        try show(plan)
        try refuse(plan)
        guard !flags.dryRun else { return }
        try ask(target)
        // Without these options, the service itself refuses if a key has changed meanwhile.
        if flags.partial || flags.force {
            guard try await self.plan(target).isSame(as: plan) else { throw ChangedMeanwhile() }
        }
        try await tell(try await make(target), target)
    }

    private func plan(_ target: TakingBackTarget) async throws -> TakingBackPlan {
        try await TakingBackPlan(for: target, isForced: flags.force, asking: defaults)
    }

    /// Prints the plan, also if nobody is asked.
    private func show(_ plan: TakingBackPlan) throws {
        let isTerminal = Defaultsctl.console.isTerminal(.output)
        let columns = isTerminal ? Defaultsctl.console.columns(of: .output) : nil
        let text = plan.lines(columns: columns).joined(separator: "\n")
        // With --changed, standard output is one word for a program.
        guard !flags.change.changed else {
            return Defaultsctl.console.complain("\(text.withoutControls)\n")
        }
        try SafeOutput.print(text)
    }

    private func ask(_ target: TakingBackTarget) throws {
        guard !flags.yes else { return }
        guard Confirmation.canBeAsked else {
            throw ToolError.notAskedTo(target.isRedo ? "redo" : "undo")
        }
        let question = target.isRedo ? "Make this again?" : "Take this back?"
        guard Confirmation.isGiven(to: question) else { throw ToolError.notConfirmed }
    }

    /// Why there is nothing to be changed, and nothing in the way.
    private func nothing(of plan: TakingBackPlan) -> ToolError {
        if plan.target.isRedo { return .nothingToRedo }
        return plan.target.time == nil ? .nothingLeft(plan.target.actions[0]) : .nothingSince
    }

    /// Refuses if keys stand in the way.
    private func refuse(_ plan: TakingBackPlan) throws {
        if plan.blockedCount > 0, !flags.partial || plan.isEmpty {
            throw ToolError.inTheWay(
                plan.blockedCount, others: plan.taken.count + plan.forced.count,
                canBeForced: plan.blocked.contains { $0.standing == .changed },
                isRedo: plan.target.isRedo)
        }
    }

    private func make(_ target: TakingBackTarget) async throws -> UInt64 {
        var options = TakingBackOptions()
        (options.domain, options.key) = (target.scope.domain, target.scope.key)
        (options.isPartial, options.isForced) = (flags.partial, flags.force)
        options.isDurable = flags.change.wait
        do {
            return target.isRedo
                ? try await defaults.redo(target.references, options).generation
                : try await defaults.undo(target.references, options).generation
        } catch {
            throw LostAnswer(error, advice: "Look at 'defaultsctl history'.") ?? error
        }
    }

    /// Says how the change is made again, or taken back.
    private func tell(_ generation: UInt64, _ target: TakingBackTarget) async throws {
        if generation > 0, !flags.change.changed {
            var query = HistoryQuery()
            query.limit = 16
            let made = try await defaults.actions(query).actions.first {
                $0.firstGeneration == generation
            }
            if target.isRedo {
                let numbers = target.actions.flatMap(\.references)
                let number = numbers.count == 1 ? numbers[0] : made?.number
                try SafeOutput.print(
                    "made again" + (number.map { "; to undo: defaultsctl undo \($0)" } ?? ""))
            } else {
                try SafeOutput.print(
                    "taken back; to redo: defaultsctl redo"
                        + (made.map { " \($0.number)" } ?? ""))
            }
        }
        try await flags.change.report(generation > 0, on: defaults)
    }
}
