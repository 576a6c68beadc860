import Foundation
import TestSupport
import Testing

/// The module for GSettings, with programs that use it.
///
/// `Tests/GSettings` has the trials.
@Suite(.serialized) struct GSettingsTests {
    @Test func `Programs of GSettings keep their settings in defaultsd, whatever happens`() {
        let result = trials()
        #expect(result.status == 0, "\(result.output)\(result.error)")
        // What cannot be had here is said, and listed at the end of the run.
        for line in result.output.split(separator: "\n") where line.hasPrefix("skipped: ") {
            print(line)
        }
    }

    @Test func `The module has no fault that the sanitizers find`() {
        let result = trials("--sanitized")
        #expect(result.status == 0, "\(result.output)\(result.error)")
    }

    private func trials(_ arguments: String...) -> ProgramResult {
        let program = Desktop.packageDirectory + "Tests/GSettings/gsettings-test"
        return ProgramResult.run(
            [program, "--programs", Desktop.programs] + arguments,
            environment: ProcessInfo.processInfo.environment)
    }
}
