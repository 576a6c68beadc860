import Foundation
import TestSupport
import TestTiers
import Testing

/// Machines that roam and take steps that are fixed.
///
/// `make torture` draws the steps at random.
@Suite(.startsPrograms) struct RoamTortureTests {
    @Test(arguments: [
        "death-after-storing", "moved-clock", "change-back", "death-between-looks",
        "removal-of-new-key", "choice-in-flight", "many-removals", "restored-server",
        "change-back-of-lost", "change-back-of-lost-key", "change-back-of-lost-removal",
        "lost-removal", "earlier-edit", "successor-of-lost",
    ])
    func `What random steps seldom meet is tried by itself`(name: String) throws {
        try torture("--case", name)
    }

    private func torture(_ arguments: String...) throws {
        try ShippedPrograms.requireNew()
        let program = Desktop.packageDirectory + ".build/debug/RoamTorture"
        let result = ProgramResult.run(
            HangGuard.command + [program, Desktop.programs] + arguments)
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}
