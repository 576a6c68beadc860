import Foundation
import TestSupport
import Testing

/// The running service beside a model of it, under calls, restarts and kills drawn at random.
///
/// Both are in `Tests/Model`; `make torture` runs them for longer.
@Suite(.serialized) struct ModelTests {
    @Test func `Whatever is called, restarted and killed, the service does what the model says`() {
        let seed = UInt32.random(in: 0...UInt32.max)
        print("Tests/Model/model-test --seconds 8 --seed \(seed)")
        let result = modelTest("--seconds", "8", "--seed", "\(seed)")
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    @Test(arguments: ["bytes-count", "killed-tokens", "silent-removals"])
    func `A wrong rule is found, and shrunk to a program of a few calls that shows it`(
        fault: String
    ) throws {
        let report = try #require(Report(of: modelTest("--inject", fault, "--seed", "1")))
        #expect(report.stepCount <= 4, "\(report.program)")
        #expect(try run(report.program).status == 3, "\(report.program)")
    }

    @Test func `A lost crash journal is found, and its program does not blame a sound service`()
        throws
    {
        let report = try #require(Report(of: modelTest("--inject", "lost-journal", "--seed", "1")))
        #expect(report.stepCount <= 4, "\(report.program)")
        #expect(try run(report.program).status == 0, "\(report.program)")
    }

    private func modelTest(_ arguments: String...) -> ProgramResult {
        let program = Desktop.packageDirectory + "Tests/Model/model-test"
        return ProgramResult.run([program, "--programs", Desktop.programs] + arguments)
    }

    private func run(_ program: String) throws -> ProgramResult {
        let directory = try TemporaryDirectory()
        let file = try directory.write(program, to: "program.py")
        return ProgramResult.run(["/usr/bin/python3", file, Desktop.programs])
    }
}

/// What the model test prints of a failure.
private struct Report {
    let program: String
    let stepCount: Int

    /// Nil if no failure was found.
    init?(of result: ProgramResult) {
        let parts = result.output.matches(
            of: /As a program:\n\n(?<program>[\s\S]*)\nAs steps[^\n]*\n\n(?<steps>.*)\n/)
        guard result.status == 1, let found = parts.first,
            let steps = try? JSONSerialization.jsonObject(with: Data(found.steps.utf8)) as? [Any]
        else { return nil }
        program = String(found.program)
        stepCount = steps.count
    }
}
