import Foundation
import TestSupport
import Testing

/// Everything that can break is broken, for a short while.
///
/// The campaigns are in `Tests/Torture`; `make torture` runs them at full length. Several run at the same
/// time: one after the other, they would be the last that run, and most of their time they wait.
@Suite struct TortureTests {
    static let campaigns =
        ((try? FileManager.default.contentsOfDirectory(atPath: Torture.folder + "/campaigns")) ?? [])
        .filter { $0.hasSuffix(".py") }.map { String($0.dropLast(3)) }.sorted()

    @Test(arguments: campaigns)
    func `Whatever breaks, nothing that was acknowledged is lost`(campaign: String) async throws {
        try ShippedPrograms.requireNew()
        let seed = "\(UInt32.random(in: 0...UInt32.max))"
        print("Tests/Torture/torture --seed \(seed) \(campaign)")
        let result = await Torture.run("--seed", seed, campaign)
        if result.status == Torture.skipped { return Torture.tellReason(result.output) }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}

/// Breaks that are put in on purpose.
@Suite struct TortureJudgeTests {
    @Test(arguments: [
        ("kills", "lost-journal"), ("kills", "lost-row"), ("syscalls", "lost-journal"),
        ("power", "no-fsync"), ("session", "journal-removed"), ("suspend", "sleep-at-once"),
        ("load", "nothing-expected"), ("load", "lost-journal"), ("abuse", "killed-under-abuse"),
        ("soak", "growing"), ("damage", "silent-loss"), ("disk", "lost-database"),
        ("runtime", "lost-change"), ("backups", "lost-backup-row"), ("backups", "truncated-backup"),
        ("layers", "lost-layer-row"), ("longcalls", "behind-the-long-call"),
        ("longcalls", "half-changes"), ("longcalls", "lost-answer"), ("space", "nothing-returned"),
        ("space", "no-reserve"), ("space", "no-free-disk"), ("space", "not-erased"),
        ("space", "row-lost-in-tidying"), ("walls", "name-for-taking"), ("walls", "same-user"),
        ("walls", "page-as-file"),
    ])
    func `A break that loses something is found`(campaign: String, fault: String) async {
        var result = await Torture.run("--inject", fault, "--seed", "1", campaign)
        if result.status == Torture.skipped { return Torture.tellReason(result.output) }
        // A daemon may have read the files again before anything was compared.
        for seed in 2...5 where result.status == 0 {
            result = await Torture.run("--inject", fault, "--seed", "\(seed)", campaign)
        }
        #expect(result.status == 1, "\(result.output)\(result.error)")
    }
}

/// The program that runs the campaigns.
private enum Torture {
    static let folder = Desktop.packageDirectory + "Tests/Torture"
    /// What it ends with where nothing could be tried.
    static let skipped: Int32 = 77

    /// Says why there was nothing to try, as the runner of the suite reads it.
    static func tellReason(_ output: String) {
        for line in output.split(separator: "\n") where line.contains("skipped: ") {
            print("skipped: \(line)")
        }
    }

    /// Runs it on a thread of its own: the tests have as many as there are cores, and other tests need them.
    static func run(_ arguments: String...) async -> ProgramResult {
        let command =
            HangGuard.command + [folder + "/torture", "--programs", Desktop.programs] + arguments
        return await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: ProgramResult.run(command)) }.start()
        }
    }
}
