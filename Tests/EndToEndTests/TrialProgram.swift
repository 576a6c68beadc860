import Foundation
import TestSupport
import Testing

/// Programs in other folders of the tests that run trials with the shipped programs.
enum TrialProgram {
    /// Runs one, which fails if a trial does, and repeats what it has skipped.
    ///
    /// - Parameters:
    ///   - path: The program, from the top of the package.
    ///   - options: Options besides the place of the programs.
    static func run(
        _ path: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let result = ProgramResult.run(
            [Desktop.packageDirectory + path, "--programs", Desktop.programs] + options,
            environment: ProcessInfo.processInfo.environment)
        let lines = result.output.split(separator: "\n").filter { !$0.hasPrefix("passed ") }
        #expect(
            result.status == 0, "\(lines.joined(separator: "\n"))\n\(result.error)",
            sourceLocation: sourceLocation)
        // What cannot be had here is said, and listed at the end of the run.
        for line in result.output.split(separator: "\n") where line.hasPrefix("skipped: ") {
            print(line)
        }
    }

    /// The folder of the library for C.
    static let library = Desktop.packageDirectory + ".build/library"
}
