import Foundation
import TestSupport
import Testing

/// The package for Python.
///
/// `Tests/Python` installs it, and `Sources/Python/tests` has its tests.
@Suite struct PythonTests {
    @Test func `The package installs, has types, and keeps settings in defaultsd`() {
        let result = ProgramResult.run(
            [
                Desktop.packageDirectory + "Tests/Python/python-test",
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
