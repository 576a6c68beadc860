import Foundation
import TestSupport
import Testing

/// Everything that can break is broken, for a short while.
///
/// The campaigns are in `Tests/Torture`; `make torture` runs them at full length.
@Suite(.serialized) struct TortureTests {
    private static let folder = Desktop.packageDirectory + "Tests/Torture"
    /// What `torture` ends with where nothing could be tried.
    private static let skipped: Int32 = 77

    static let campaigns =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/campaigns")) ?? [])
        .filter { $0.hasSuffix(".py") }.map { String($0.dropLast(3)) }.sorted()

    @Test(arguments: campaigns)
    func `Whatever breaks, nothing that was acknowledged is lost`(campaign: String) {
        let seed = "\(UInt32.random(in: 0...UInt32.max))"
        print("Tests/Torture/torture --seed \(seed) \(campaign)")
        let result = torture("--seed", seed, campaign)
        if result.status == Self.skipped { return print("skipped:\n\(result.output)") }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    @Test(arguments: [
        ("kills", "lost-journal"), ("kills", "lost-row"), ("syscalls", "lost-journal"),
        ("power", "no-fsync"), ("session", "journal-removed"), ("suspend", "sleep-at-once"),
        ("load", "nothing-expected"), ("load", "lost-journal"), ("abuse", "killed-under-abuse"),
        ("soak", "growing"), ("damage", "silent-loss"), ("disk", "lost-database"),
        ("runtime", "lost-change"), ("backups", "lost-backup-row"), ("backups", "truncated-backup"),
        ("layers", "lost-layer-row"), ("longcalls", "behind-the-long-call"),
        ("longcalls", "half-changes"), ("longcalls", "lost-answer"), ("space", "nothing-returned"),
        ("space", "no-reserve"), ("space", "not-erased"),
        ("space", "row-lost-in-tidying"), ("walls", "name-for-taking"), ("walls", "same-user"),
        ("walls", "page-as-file"),
    ])
    func `A break that loses something is found`(campaign: String, fault: String) {
        let result = torture("--inject", fault, "--seed", "1", campaign)
        if result.status == Self.skipped { return print("skipped:\n\(result.output)") }
        #expect(result.status == 1, "\(result.output)\(result.error)")
    }

    private func torture(_ arguments: String...) -> ProgramResult {
        // On a machine that is kept busy by others a campaign may find no end.
        ProgramResult.run(
            ["timeout", "300", Self.folder + "/torture", "--programs", Desktop.programs] + arguments
        )
    }
}
