import Foundation
import Synchronization

/// The number from which, together with its name, each test has its random numbers.
///
/// `DEFAULTSD_SEED` in the environment is this number, or `random` for a new one.
public enum TestSeed {
    private static let variable = "DEFAULTSD_SEED"

    /// That of this process: the same at each run, unless the environment wants another.
    public static let current: UInt64 = {
        let text = ProcessInfo.processInfo.environment[variable]
        guard let seed = seed(of: text, drawing: { .random(in: 1...UInt64(UInt32.max)) }) else {
            fatalError("\(variable) is a number or 'random', and not '\(text ?? "")'.")
        }
        return seed
    }()

    /// What the variable in the environment means; nil if it means nothing.
    ///
    /// - Parameters:
    ///   - text: The value of the variable; nil if it is not there.
    ///   - draw: Gives a new number.
    public static func seed(of text: String?, drawing draw: () -> UInt64) -> UInt64? {
        switch text ?? "" {
        case "": 0
        case "random": draw()
        case let text: UInt64(text)
        }
    }

    private static let announced = Mutex<Set<String>>([])

    /// Prints the command that repeats a test with its numbers, once for all its cases.
    static func announce(_ seed: UInt64, for test: TestName) {
        let command = command(repeating: test, with: seed)
        guard announced.withLock({ $0.insert(command).inserted }) else { return }
        // Without a buffer: the line is there even if the test ends the process.
        FileHandle.standardError.write(Data("\(command)\n".utf8))
    }

    static func command(repeating test: TestName, with seed: UInt64) -> String {
        "\(variable)=\(seed) Tests/Harness/suite --filter '\(test.filter)' # \(test.function)"
    }
}
