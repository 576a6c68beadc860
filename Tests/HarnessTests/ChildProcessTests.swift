import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What the programs have that tests start.
@Suite(.startsPrograms) struct ChildProcessTests {
    @Test func `A program has only its three standard streams`() throws {
        let directory = try TemporaryDirectory()
        // What every program would inherit that another thread starts.
        let file = open(directory.path + "/file", O_RDWR | O_CREAT, 0o600)
        try #require(file > 2)
        defer { close(file) }
        // The directory itself is open while it is listed.
        let listing = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])"
        let output = try ProgramResult.run(["/usr/bin/python3", "-c", listing]).requireOutput()
        #expect(output == "[0, 1, 2]\n")
    }

    @Test func `What is written to a program arrives, and its end is seen`() throws {
        let program = try ChildProcess(["cat"], input: .pipe, output: .lines)
        try program.input?.write(contentsOf: Data("one\ntwo\n".utf8))
        #expect(program.lines?.next() == "one")
        #expect(program.lines?.next() == "two")
        try program.input?.close()
        #expect(program.lines?.next() == nil)
        #expect(program.waitUntilExit() == 0)
    }

    @Test func `What a program that fails has said is in the error`() throws {
        let script = "echo 'It is broken.' >&2; sh -c 'echo Indeed. >&2'; exit $0"
        let failing = try ChildProcess(["sh", "-c", script, "3"])
        let failure = #expect(throws: ProgramFailure.self) { try failing.requireSuccess() }
        #expect(failure?.description == "exit status 3\nIt is broken.\nIndeed.\n")
        try ChildProcess(["sh", "-c", script, "0"]).requireSuccess()
    }

    @Test func `A program can be ended while another thread waits for its end`() async throws {
        let program = try ChildProcess(["cat"], input: .pipe, output: .lines)
        try program.input?.write(contentsOf: Data("ready\n".utf8))
        #expect(program.lines?.next() == "ready")
        async let status = withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: program.waitUntilExit()) }
        }
        program.send(SIGTERM)
        #expect(await status == 128 + SIGTERM)
    }

    @Test func `A program carries the name of its test`() throws {
        let name = try #require(RunningTest.name)
        #expect(name.contains("ChildProcessTests"))
        #expect(
            try ProgramResult.run(["printenv", "DEFAULTSD_TEST"]).requireOutput() == name + "\n")
    }
}

/// The threads on which tests of the second tier run.
@Suite(.startsPrograms) struct TestThreadTests {
    /// As many as there are threads for all tasks, and more.
    static let tests = 0..<2 * ProcessInfo.processInfo.activeProcessorCount

    /// Without a thread for each test, all threads would wait here, and the signals would never come.
    @Test(arguments: tests)
    func `A test that waits leaves the threads of the pool to others`(number: Int) {
        let signal = DispatchSemaphore(value: 0)
        Task.detached {
            await Task.yield()
            signal.signal()
        }
        signal.wait()
    }

    @Test func `All steps of a test run on its thread`() async throws {
        let name = try #require(currentThreadName())
        #expect(name.hasPrefix("test-"))
        await Task.yield()
        #expect(currentThreadName() == name)
        try await Task.sleep(for: .zero)
        #expect(currentThreadName() == name)
    }

    private func currentThreadName() -> String? {
        try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    }
}
