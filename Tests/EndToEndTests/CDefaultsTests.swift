import Foundation
import TestSupport
import Testing

/// The library for C, with programs that use it.
///
/// `Tests/CDefaults` has the trials.
@Suite(.serialized) struct CDefaultsTests {
    @Test func `Programs in C keep their settings in defaultsd, whatever happens`() {
        let result = ProgramResult.run(
            [
                Desktop.packageDirectory + "Tests/CDefaults/cdefaults-test",
                "--programs", Desktop.programs,
                "--library", Desktop.packageDirectory + ".build/library",
            ],
            environment: ProcessInfo.processInfo.environment)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        // What cannot be had here is said, and listed at the end of the run.
        for line in result.output.split(separator: "\n") where line.hasPrefix("skipped: ") {
            print(line)
        }
    }
}
