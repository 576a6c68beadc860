import Foundation

/// What a program that has ended left behind.
public struct ProgramResult: Sendable {
    /// The exit status; for a program that a signal ended, the signal's number plus 128.
    public let status: Int32
    /// Standard output.
    public let output: String
    /// Standard error.
    public let error: String

    /// What something else than a program left behind, such as a command line in the process of a test.
    public init(status: Int32, output: String, error: String) {
        (self.status, self.output, self.error) = (status, output, error)
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - command: The program, looked for in PATH, and its arguments.
    ///   - environment: The whole environment; nil for that of the tests.
    ///   - input: Standard input; nothing without it.
    public static func run(
        _ command: [String], environment: [String: String]? = nil, input: String = ""
    ) -> ProgramResult {
        do {
            // Files and not pipes: a pipe that nobody reads yet would stop the program.
            let directory = try TemporaryDirectory()
            let (input, output, error) = (
                try directory.write(input, to: "input"), directory.path + "/output",
                directory.path + "/error"
            )
            let child = try ChildProcess(
                command, environment: environment, input: .file(input), output: .file(output),
                error: .file(error))
            let status = child.waitUntilExit()
            return ProgramResult(
                status: status, output: try text(of: output), error: try text(of: error))
        } catch {
            return ProgramResult(status: 127, output: "", error: "\(command): \(error)")
        }
    }

    /// Runs a program to its end while the calling task is suspended.
    ///
    /// For tests that serve the program from this process: they keep none of the few threads
    /// waiting on which tasks run.
    public static func running(
        _ command: [String], environment: [String: String]? = nil, input: String = ""
    ) async -> ProgramResult {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: run(command, environment: environment, input: input))
            }
        }
    }

    /// Standard output, where the program ended with 0.
    ///
    /// - Throws: ``ProgramFailure`` with what it said, where it did not.
    @discardableResult
    public func requireOutput() throws -> String {
        guard status == 0 else { throw ProgramFailure(result: self) }
        return output
    }

    private static func text(of file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    }
}

/// A program that was to succeed and did not.
public struct ProgramFailure: Error, CustomStringConvertible {
    let result: ProgramResult

    /// The exit status and all that it said.
    public var description: String {
        "exit status \(result.status)\n\(result.output)\(result.error)"
    }
}
