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

    private func trials() -> ProgramResult {
        let program = Desktop.packageDirectory + "Tests/GSettings/gsettings-test"
        return ProgramResult.run(
            [program, "--programs", Desktop.programs],
            environment: ProcessInfo.processInfo.environment)
    }
}
