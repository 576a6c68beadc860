import Foundation
import Glibc
import TestTiers
import Testing

@testable import DBus

@Suite(.startsPrograms) struct EventLoopTests {
    @Test func `The thread that made a loop is its thread until it runs on another`() async throws {
        let loop = try EventLoop()
        #expect(loop.isCurrent)
        await withCheckedContinuation { continuation in
            loop.perform { continuation.resume() }
            Thread.detachNewThread { loop.run() }
        }
        #expect(!loop.isCurrent)
        loop.stop()
    }

    @Test func `Work added before the stop is done before run returns (1)`() throws {
        let loop = try EventLoop()
        let done = Log<Int>()
        loop.perform { done.append(1) }
        loop.perform {
            done.append(2)
            #expect(loop.isCurrent)
        }
        loop.stop()
        loop.run()
        #expect(done.entries == [1, 2])
    }

    @Test func `Timers fire in the order of their deadlines, then of their creation`() throws {
        let loop = try EventLoop()
        var fired: [Int] = []
        loop.schedule(after: .milliseconds(3)) {
            fired.append(4)
            loop.stop()
        }
        loop.schedule(after: .milliseconds(1)) { fired.append(3) }
        loop.schedule(after: .zero) { fired.append(1) }
        loop.schedule(after: .seconds(-1)) { fired.append(0) }
        loop.schedule(after: .zero) { fired.append(2) }
        loop.run()
        #expect(fired == [0, 1, 2, 3, 4])
    }

    @Test func `A cancelled timer does not fire, even if both were due (4)`() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        var second: EventLoop.Timer?
        loop.schedule(after: .zero) {
            fired.append("first")
            second?.cancel()
        }
        second = loop.schedule(after: .zero) { fired.append("second") }
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        #expect(fired == ["first"])
        #expect(loop.timers.millisecondsToNext == -1)
    }

    @Test func `A timer set by another one waits for the next round`() throws {
        let loop = try EventLoop()
        var rounds = 0
        func again() {
            rounds += 1
            if rounds == 100 { loop.stop() } else { loop.schedule(after: .zero, again) }
        }
        loop.schedule(after: .zero, again)
        loop.run()
        #expect(rounds == 100)
    }

    @Test(arguments: [false, true])
    func `A watch reports when its descriptor is ready, until it is cancelled (4)`(
        isInOwnProcess: Bool
    )
        throws
    {
        let loop = try EventLoop(isInOwnProcess: isInOwnProcess)
        let pipe = Pipe()
        let reading = pipe.fileHandleForReading.fileDescriptor
        var seen: [Events] = []
        var other: EventLoop.Watch?
        let watch = loop.watch(reading, for: .readable) { events in
            seen.append(events)
            other?.cancel()
            if seen.count == 1 {
                try? pipe.fileHandleForWriting.close()
                _ = try? pipe.fileHandleForReading.read(upToCount: 1)
            } else {
                loop.stop()
            }
        }
        other = loop.watch(reading, for: .readable) { _ in Issue.record("It was cancelled.") }
        try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
        loop.run()
        watch.cancel()
        #expect(seen == [.readable, .hangUp])
    }

    @Test(arguments: [false, true])
    func `A watch for nothing is left alone, even if the descriptor has failed`(
        isInOwnProcess: Bool
    )
        throws
    {
        let loop = try EventLoop(isInOwnProcess: isInOwnProcess)
        let pipe = Pipe()
        try pipe.fileHandleForWriting.close()
        let watch = loop.watch(pipe.fileHandleForReading.fileDescriptor, for: []) { _ in
            Issue.record("Nothing was asked for.")
        }
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        watch.events = .readable
        #expect(watch.events == .readable)
        watch.cancel()
    }

    @Test func `An idle loop sleeps in poll without a timeout (2)`() async throws {
        let loop = try EventLoop.startThread(named: "idle-loop")
        let tasks = "/proc/self/task"
        var thread: String?
        while thread == nil {
            // A thread of another test may end while we look.
            thread = try FileManager.default.contentsOfDirectory(atPath: tasks).first {
                (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8))
                    == "idle-loop\n"
            }
        }
        let file = "\(tasks)/\(try #require(thread))/syscall"
        // Its number, its arguments: poll is 7 on x86-64 and ppoll 73 on arm64, where the fourth
        // argument is a null timeout. The thread is on its way there until it is.
        var call: [Substring] = []
        while call.count < 4 || (call[0] != "7" && call[0] != "73") {
            call = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ")
        }
        #expect(call[0] == "7" ? call[3] == "0xffffffff" : call[3] == "0x0")
        loop.stop()
    }

    @Test func `Work from many threads is all done, each thread's in its order (3)`() async throws {
        let loop = try EventLoop.startThread(named: "busy")
        let done = Log<[Int]>()
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        loop.perform { done.append([thread, number]) }
                    }
                    await withCheckedContinuation { continuation in
                        loop.perform { continuation.resume() }
                    }
                }
            }
        }
        for thread in 0..<8 {
            #expect(done.entries.filter { $0[0] == thread }.map { $0[1] } == Array(0..<500))
        }
        loop.stop()
    }
}

private func assumeIsolation(of counter: ExecutorTests.Counter) {
    counter.assumeIsolated { _ = $0.increment() }
}

/// The loop as an executor.
@Suite(.startsPrograms) struct ExecutorTests {
    actor Counter {
        let loop: EventLoop
        var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(on loop: EventLoop) { self.loop = loop }

        func increment() -> Bool {
            count += 1
            return loop.isCurrent
        }
    }

    @Test func `An actor on the loop runs on the loop's thread (1)`() async throws {
        let loop = try EventLoop.startThread(named: "actor")
        let counter = Counter(on: loop)
        #expect(await counter.increment())
        loop.stop()
    }

    @Test func `A handler of the loop is inside every actor of the loop`() async throws {
        let loop = try EventLoop.startThread(named: "actor")
        let counter = Counter(on: loop)
        let onLoop = await withCheckedContinuation { continuation in
            loop.perform {
                continuation.resume(returning: counter.assumeIsolated { $0.increment() })
            }
        }
        #expect(onLoop)
        loop.stop()
    }

    @Test func `A task that prefers the loop runs on it if it belongs to no actor`() async throws {
        let loop = try EventLoop.startThread(named: "task")
        let onLoop = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(onLoop)
        loop.stop()
    }

    @Test func `An actor of the loop that is assumed to be isolated elsewhere traps`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop.startThread(named: "actor")
            assumeIsolation(of: Counter(on: loop))
        }
    }

    @Test(arguments: [false, true])
    func `Two watches of one descriptor get their own events`(isInOwnProcess: Bool) throws {
        let loop = try EventLoop(isInOwnProcess: isInOwnProcess)
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        var seen: [String] = []
        var writing: EventLoop.Watch?
        let reading = loop.watch(ends[0], for: .readable) { events in
            seen.append("read \(events.rawValue)")
            var byte: UInt8 = 0
            if read(ends[0], &byte, 1) == 1 { loop.stop() }
        }
        writing = loop.watch(ends[0], for: .writable) { events in
            seen.append("write \(events.rawValue)")
            writing?.events = []
            _ = write(ends[1], "x", 1)
        }
        loop.run()
        #expect(seen == ["write \(POLLOUT)", "read \(POLLIN)"])
        reading.cancel()
        writing?.cancel()
        ends.forEach { close($0) }
    }

    @Test func `An event of a closed file is not taken for one of the next file with its number`()
        throws
    {
        let loop = try EventLoop(isInOwnProcess: true)
        let (first, second) = (Pipe(), Pipe())
        var watches: [EventLoop.Watch] = []
        let numbers = [first, second].map(\.fileHandleForReading.fileDescriptor)
        var calls = 0
        // Both are ready. Whichever comes first closes the other one, whose number another file gets.
        for (number, other) in [(numbers[0], numbers[1]), (numbers[1], numbers[0])] {
            watches.append(
                loop.watch(number, for: .readable) { _ in
                    calls += 1
                    for watch in watches { watch.cancel() }
                    var ends: [Int32] = [-1, -1]
                    #expect(pipe(&ends) == 0 && dup2(ends[0], other) == other)
                    watches = [
                        loop.watch(other, for: .readable) { _ in Issue.record("Nothing has come.") }
                    ]
                    loop.schedule(after: .milliseconds(1)) { loop.stop() }
                })
        }
        for pipe in [first, second] { try pipe.fileHandleForWriting.write(contentsOf: Data([1])) }
        loop.run()
        #expect(calls == 1)
        watches.forEach { $0.cancel() }
    }

    @Test func `A descriptor that the system cannot wait for gets an error, once`() throws {
        let loop = try EventLoop(isInOwnProcess: true)
        let directory = open("/", O_RDONLY | O_CLOEXEC)
        var seen: [Events] = []
        let watch = loop.watch(directory, for: .readable) { seen.append($0) }
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        #expect(seen == [.error])
        watch.cancel()
        close(directory)
    }
}
