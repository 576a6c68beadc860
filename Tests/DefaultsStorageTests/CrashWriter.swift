import Foundation
import Glibc
import TestSupport
import Testing

@testable import DefaultsStorage

/// A run of the program that changes a database without end.
struct CrashWriter {
    /// What the program said before it ended.
    struct Output {
        /// The generations that it was told of, in order.
        var acknowledged: [UInt64] = []
        /// The number that each key was last set to.
        var numbers: [String: Int] = [:]
        /// The code of the refusal that ended it.
        var refused: String?
        /// What "left" was set to after the refusal.
        var numberAfterRefusal: Int?
    }

    let scratch: Scratch
    private let process: ChildProcess

    /// - Parameter largestFile: The largest size in bytes that a file of the program may have.
    init(in scratch: Scratch, largestFile: Int? = nil) throws {
        self.scratch = scratch
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let program = products.appendingPathComponent("StorageCrashWriter").path
        process = try ChildProcess(
            [program, scratch.location.directory, try #require(scratch.location.runtimeDirectory)]
                + (largestFile.map { [String($0)] } ?? []),
            output: .lines)
    }

    /// Kills the program, by SIGKILL, after it has reported this many changes.
    func kill(after count: Int) throws -> Output {
        var lines: [String] = []
        while lines.count < count, let line = process.lines?.next() { lines.append(line) }
        process.send(SIGKILL)
        return finish(lines)
    }

    /// Waits for the program to end by itself.
    func wait() -> Output { finish([]) }

    private func finish(_ beginning: [String]) -> Output {
        var lines = beginning
        // A line that was cut off is not a whole reply, and is not given.
        while let line = process.lines?.next() { lines.append(line) }
        process.waitUntilExit()
        var result = Output()
        for line in lines {
            let words = line.split(separator: " ")
            if words[0] == "acknowledged", let generation = UInt64(words[1]),
                let number = Int(words[2])
            {
                result.acknowledged.append(generation)
                for key in ["left", "right", "key\(number % 100)"] {
                    result.numbers[key] = number
                }
            } else if words[0] == "refused" {
                result.refused = String(words[1])
                result.numberAfterRefusal = Int(words[2])
            }
        }
        return result
    }
}
