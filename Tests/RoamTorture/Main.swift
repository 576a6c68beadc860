import DBus
import DefaultsRoaming
import Foundation

/// Machines of one user whose daemons, roaming services, disks, clocks and engines fail at every step.
///
///     RoamTorture PROGRAMS [--engine memory|directory|postgres] [--sealed] [--seeds N] [--first SEED]
///         [--steps N] [--machines N] [--case NAME] [--no-power-cuts] [--late-winners] [--verbose]
///
/// With --sealed, the machines encrypt what they exchange. With --late-winners, it is wrong if the earlier
/// edit won more than a quarter of the conflicts. With --case, the steps are those of a ``TortureCase``,
/// and nothing happens in between.
///
/// The steps of a seed are printed if something was wrong with it.
///
/// The last line says what was wrong; the exit status is 1 if anything was, and 64 if the command line is.
@main
enum Main {
    static func main() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        let loop = try EventLoop.startThread(named: "torture")
        var sums: [String: Int] = [:]
        var isWrong = false
        for seed in options.first..<(options.first + options.seeds) {
            let place = try await options.place(seed: seed, on: loop)
            let torture = Torture(
                seed: seed, chance: options.fixedSteps == nil ? 8 : 0,
                cutsPower: options.cutsPower, isVerbose: options.isVerbose, on: loop,
                meetingAt: options.isSealed ? SealedMeeting(place) : place)
            let outcome = try await Task(executorPreference: loop) {
                try await torture.begin(options.machines, programs: options.programs)
                if let steps = options.fixedSteps {
                    try await torture.run(steps)
                } else {
                    try await torture.run(steps: options.steps)
                }
                let isSame = try await torture.settle()
                let verdict = try await torture.verdict()
                let refused = await torture.refused()
                await torture.end()
                return (isSame, verdict, refused)
            }.value
            let (isSame, verdict, refused) = outcome
            var isSeedWrong = !isSame || torture.ledger.writes.isEmpty
            for (name, texts) in [
                ("gone", verdict.gone), ("came back", verdict.cameBack), ("ghosts", verdict.ghosts),
                ("loser knew winner", verdict.knewWinner), ("refused", refused),
            ] {
                sums[name, default: 0] += texts.count
                if !texts.isEmpty {
                    isSeedWrong = true
                    print("seed \(seed): \(name): \(texts.joined(separator: ", "))")
                }
            }
            if let steps = options.fixedSteps {
                isSeedWrong =
                    isSeedWrong || verdict.conflicts != steps.conflicts
                    || verdict.wrongWinners != steps.earlierWinners
            } else {
                sums["steps", default: 0] += options.steps
            }
            if isSeedWrong, !options.isVerbose { print(torture.story.joined(separator: "\n")) }
            isWrong = isWrong || isSeedWrong
            sums["diverged", default: 0] += isSame ? 0 : 1
            sums["writes", default: 0] += torture.ledger.writes.count
            sums["conflicts", default: 0] += verdict.conflicts
            sums["earlier edit won", default: 0] += verdict.wrongWinners
            for (event, count) in torture.events { sums[event, default: 0] += count }
        }
        if options.expectsLateWinners,
            4 * sums["earlier edit won", default: 0] > sums["conflicts", default: 0]
        {
            isWrong = true
        }
        print(
            sums.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        exit(isWrong ? 1 : 0)
    }
}

private struct Options {
    var programs = ""
    var first: UInt64 = 1
    var seeds: UInt64 = 1
    var steps = 300
    var machines = 3
    var isVerbose = false
    var engine = "memory"
    var cutsPower = true
    var isSealed = false
    var expectsLateWinners = false
    var fixedSteps: TortureCase?

    init(_ arguments: some Sequence<String>) throws {
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            switch word {
            case "--first": first = UInt64(words.popFirst() ?? "") ?? 1
            case "--seeds": seeds = UInt64(words.popFirst() ?? "") ?? 1
            case "--steps": steps = Int(words.popFirst() ?? "") ?? 300
            case "--machines": machines = Int(words.popFirst() ?? "") ?? 3
            case "--engine": engine = words.popFirst() ?? ""
            case "--verbose": isVerbose = true
            case "--no-power-cuts": cutsPower = false
            case "--sealed": isSealed = true
            case "--late-winners": expectsLateWinners = true
            case "--case":
                let name = words.popFirst() ?? ""
                fixedSteps = TortureCase(rawValue: name)
                if fixedSteps == nil { Self.refuse("There is no case '\(name)'.") }
            case _ where word.hasPrefix("--"): Self.refuse("There is no option '\(word)'.")
            default: programs = word
            }
        }
    }

    private static func refuse(_ sentence: String) -> Never {
        print(sentence)
        exit(64)
    }

    func place(seed: UInt64, on loop: EventLoop) async throws -> any TormentedPlace {
        switch engine {
        case "memory": MemoryMeeting()
        case "directory": FolderMeeting(seed: seed)
        case "postgres": try await ServerMeeting(seed: seed, on: loop)
        default: throw RoamError("There is no engine '\(engine)'.")
        }
    }
}
