import Foundation
import Glibc
import TestSupport
import Testing

/// Two processes that write in turn, and check that no read is older than what was acknowledged: see
/// `FreshnessCheck` of `ClientProgram`.
final class FreshnessPair {
    private let sides: [ChildProcess]
    private let complaints: [String]
    /// The file of the number that was acknowledged last, which both have in memory.
    private let numberPath: String
    // Open as long as there are the sides, so that none of them sees the other's end too early.
    private let pipes: [FileHandle]

    /// - Parameters:
    ///   - rounds: How often one of them writes, and the other reads.
    ///   - reads: How often it reads each time.
    init(
        rounds: Int, reads: Int, in desktop: Desktop, environment: [String: String]? = nil
    ) throws {
        let directory = desktop.directory.path + "/pair"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        numberPath = directory + "/acknowledged"
        try Data(count: 4096).write(to: URL(filePath: numberPath))
        pipes = try (0...1).map { side in
            let path = "\(directory)/to-\(side)"
            guard mkfifo(path, 0o600) == 0, case let file = open(path, O_RDWR | O_CLOEXEC),
                file >= 0
            else { throw CocoaError(.fileWriteUnknown) }
            return FileHandle(fileDescriptor: file, closeOnDealloc: true)
        }
        let complaints = (0...1).map { "\(directory)/err-\($0)" }
        self.complaints = complaints
        sides = try (0...1).map { side in
            try ChildProcess(
                [
                    ClientProcess.program, "fresh", directory, "\(side)", "\(rounds)", "\(reads)",
                ], environment: environment ?? desktop.environment, output: .lines,
                error: .file(complaints[side]))
        }
    }

    /// Waits until both have gone on for some rounds, or have ended.
    func waitForRounds(_ count: Int) throws {
        let goal = try round() + count
        try wait { try round() >= goal || !isRunning }
    }

    /// The number that was acknowledged last.
    private func round() throws -> Int {
        try Data(contentsOf: URL(filePath: numberPath)).prefix(8).reversed()
            .reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether both go on.
    var isRunning: Bool { sides.allSatisfy(\.isRunning) }

    /// What both have found in the end.
    ///
    /// One that has found a stale read ends, and the other is not waited for.
    func verdicts() throws -> [String] {
        try wait { !isRunning }
        let ended = sides.filter { !$0.isRunning }
        if ended.contains(where: { $0.waitUntilExit() != 0 }) {
            for side in sides { side.send(SIGTERM) }
        }
        return try zip(sides, complaints).map { side, complaints in
            let status = side.waitUntilExit()
            let told = try String(contentsOfFile: complaints, encoding: .utf8)
            return side.lines?.next() ?? "ended with \(status): \(told)"
        }
    }
}
