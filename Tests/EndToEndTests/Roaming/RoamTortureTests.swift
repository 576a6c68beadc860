import Foundation
import TestSupport
import Testing

/// Machines that fail at every step, in the short form; `make torture` has the long one.
@Suite struct RoamTortureTests {
    @Test(arguments: ["memory", "directory"])
    func `Whatever fails, all machines become the same and nothing is lost`(engine: String)
        async throws
    {
        let seed = UInt32.random(in: 1...1_000_000)
        try await torture("--engine", engine, "--first", "\(seed)", "--steps", "300")
    }

    @Test(arguments: [
        "death-after-storing", "moved-clock", "change-back", "death-between-looks",
        "removal-of-new-key", "choice-in-flight", "many-removals", "restored-server",
        "change-back-of-lost", "change-back-of-lost-key", "change-back-of-lost-removal",
        "lost-removal", "earlier-edit", "successor-of-lost",
    ])
    func `What random steps seldom meet is tried by itself`(name: String) async throws {
        try await torture("--case", name)
    }

    private func torture(_ arguments: String...) async throws {
        try ShippedPrograms.requireNew()
        print("RoamTorture \(arguments.joined(separator: " "))")
        let program = Desktop.packageDirectory + ".build/debug/RoamTorture"
        let command = HangGuard.command + [program, Desktop.programs] + arguments
        let result = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: ProgramResult.run(command)) }.start()
        }
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }
}
