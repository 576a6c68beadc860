import Foundation
import Glibc
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
    private let process = Process()
    private let output = Pipe()

    /// - Parameter largestFile: The largest size in bytes that a file of the program may have.
    init(in scratch: Scratch, largestFile: Int? = nil) throws {
        self.scratch = scratch
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("StorageCrashWriter")
        process.arguments =
            [scratch.location.directory, try #require(scratch.location.runtimeDirectory)]
            + (largestFile.map { [String($0)] } ?? [])
        process.standardOutput = output
        try process.run()
    }

    /// Kills the program, by SIGKILL, after it has reported this many changes.
    func kill(after count: Int) throws -> Output {
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            text += more
        }
        Glibc.kill(process.processIdentifier, SIGKILL)
        return finish(text)
    }

    /// Waits for the program to end by itself.
    func wait() -> Output { finish(Data()) }

    private func finish(_ beginning: Data) -> Output {
        let text = beginning + output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        var result = Output()
        // Text after the last line feed is a line that was cut off: not a whole reply.
        for line in String(decoding: text, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast() {
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
