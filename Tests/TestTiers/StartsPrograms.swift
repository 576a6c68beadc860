import CLinux
import Foundation
import Synchronization
import TestSupport
public import Testing

/// The tests of a suite start programs and wait for them.
///
/// Such a suite belongs to the second tier; see Contributing. Each of its tests has a thread of its own: a test
/// that waits would otherwise hold one of the few threads on which all tasks run, and delay tests that have
/// nothing to do with it.
public struct StartsPrograms: SuiteTrait, TestTrait, TestScoping {
    /// The trait is that of each test in the suite.
    public var isRecursive: Bool { true }

    /// Runs a test on a thread of its own.
    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let name = "\(test.id)"
        let thread = TestThread.start(for: name)
        defer { thread.end() }
        try await RunningTest.$name.withValue(name) {
            try await withTaskExecutorPreference(thread) { try await function() }
        }
    }
}

extension Trait where Self == StartsPrograms {
    /// The tests of the suite start programs and wait for them.
    public static var startsPrograms: Self { Self() }
}

/// A thread that carries out the jobs of one test.
private final class TestThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let news = DispatchSemaphore(value: 0)

    /// - Parameter test: The name of the test.
    static func start(for test: String) -> TestThread {
        let executor = TestThread()
        let digits = String(RunningTest.hash(of: test), radix: 16)
        let name = "test-" + String(repeating: "0", count: 8 - digits.count) + digits
        Thread.detachNewThread {
            // By this name, `Tests/Harness/activity.py` finds the thread. Foundation does not set it.
            clinux_name_this_thread(name)
            executor.run()
        }
        return executor
    }

    func enqueue(_ job: UnownedJob) {
        let isTaken = state.withLock { state in
            if !state.hasEnded { state.jobs.append(job) }
            return !state.hasEnded
        }
        guard isTaken else { return globalConcurrentExecutor.enqueue(job) }
        news.signal()
    }

    /// Ends the thread when it has done its jobs.
    func end() {
        state.withLock { $0.hasEnded = true }
        news.signal()
    }

    private func run() {
        while true {
            news.wait()
            let (jobs, hasEnded) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.hasEnded)
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if hasEnded { return }
        }
    }
}
