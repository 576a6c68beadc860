import Foundation
import TestSupport
import TestTiers
import Testing

/// Programs that tests make are run while other tests start programs.
@Suite(.startsPrograms) struct ProgramTests {
    @Test func `A program that was just made can be run, whatever is started meanwhile`()
        async throws
    {
        let directory = try TemporaryDirectory()
        try await whileOthersStartPrograms {
            for number in 0..<100 {
                let path = "\(directory.path)/program"
                try Program.make("#!/bin/sh\necho \(number)\n", at: path)
                #expect(try ProgramResult.run([path]).requireOutput() == "\(number)\n")
            }
        }
    }

    @Test func `A copy of a program, and a link to one, can be run`() throws {
        let directory = try TemporaryDirectory()
        let (copy, link) = (directory.path + "/copy", directory.path + "/link")
        try Program.copy("/bin/echo", to: copy)
        try Program.link(link, to: "/bin/echo")
        for program in [copy, link] {
            #expect(try ProgramResult.run([program, "a"]).requireOutput() == "a\n")
        }
    }

    @Test func `A program that cannot be copied is an error`() {
        #expect(throws: ProgramFailure.self) {
            try Program.copy("/nonexistent/program", to: "/nonexistent/copy")
        }
    }

    /// Starts programs on four other threads until a closure has ended.
    private func whileOthersStartPrograms(_ body: () throws -> Void) async throws {
        let others = (0..<4).map { _ in
            Task.detached {
                while !Task.isCancelled {
                    _ = await ProgramResult.running(["true"])
                }
            }
        }
        defer { for other in others { other.cancel() } }
        try body()
    }
}
