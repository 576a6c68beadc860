import Glibc
import SystemCalls
import TestTiers
import Testing

@testable import DBus

/// A loop whose time is moved by hand.
///
/// The numbers are those of the invariants in `EventLoop+Clock.swift`.
@Suite(.startsPrograms) struct HeldClockTests {
    private let held: HeldLoop
    private let log = Log<String>()
    private var loop: EventLoop { held.loop }

    init() throws {
        held = try HeldLoop()
    }

    /// Sets timers that note their names and the time.
    private func set(_ timers: [(name: String, milliseconds: Int)]) async {
        await held.run { [loop, log] in
            let start = loop.now
            for timer in timers {
                loop.schedule(after: .milliseconds(timer.milliseconds)) {
                    log.append("\(timer.name) at \(start.duration(to: loop.now))")
                }
            }
        }
    }

    @Test func `Timers fire in the order of their deadlines, each at its own time (2, 3)`() async {
        await set([("late", 7000), ("first", 0), ("soon", 10), ("also soon", 10), ("past", -5)])
        await loop.advance(by: .seconds(7))
        // The time of a timer that is due at once is the time at which it was set.
        #expect(
            log.entries == [
                "past at 0.0 seconds", "first at 0.0 seconds", "soon at 0.01 seconds",
                "also soon at 0.01 seconds", "late at 7.0 seconds",
            ])
    }

    @Test func `The clock waits for a task that waits for its turn again and again (2)`() async {
        let task = Task(executorPreference: loop) { [loop, log] in
            for turn in 1...100 {
                await loop.waitForTurn()
                log.append("\(turn)")
            }
        }
        await set([("timer", 1)])
        await loop.advance(by: .milliseconds(1))
        #expect(log.entries.count == 101 && log.entries.last == "timer at 0.001 seconds")
        await task.value
    }

    @Test func `A timer fires at its deadline, and not a nanosecond before`() async {
        await set([("timer", 250)])
        await loop.advance(by: .milliseconds(250) - .nanoseconds(1))
        #expect(log.entries.isEmpty)
        await loop.advance(by: .nanoseconds(1))
        #expect(log.entries == ["timer at 0.25 seconds"])
    }

    @Test func `A timer that a timer has set fires in the same move, at its own time`() async {
        await held.run { [loop, log] in
            let start = loop.now
            func again(_ rest: Int) {
                loop.schedule(after: .milliseconds(30)) {
                    log.append("\(rest) at \(start.duration(to: loop.now))")
                    if rest > 0 { again(rest - 1) }
                }
            }
            again(2)
            loop.schedule(after: .milliseconds(75)) { log.append("between") }
        }
        await loop.advance(by: .milliseconds(89))
        #expect(log.entries == ["2 at 0.03 seconds", "1 at 0.06 seconds", "between"])
        await loop.advance(by: .milliseconds(1))
        #expect(log.entries.last == "0 at 0.09 seconds")
    }

    @Test func `A cancelled timer does not fire, even if both were due at the same time`() async {
        await held.run { [loop, log] in
            var others: [EventLoop.Timer] = []
            loop.schedule(after: .seconds(1)) {
                log.append("first")
                for other in others { other.cancel() }
            }
            others = [1, 2].map { loop.schedule(after: .seconds($0)) { log.append("cancelled") } }
        }
        await loop.advance(by: .seconds(3))
        #expect(log.entries == ["first"])
        let next = await held.run { [loop] in loop.timers.nextDeadline }
        #expect(next == nil)
    }

    @Test func `What a timer hands over is done before the next timer fires (2)`() async {
        await held.run { [loop, log] in
            @Sendable func hop(_ rest: Int) {
                log.append("\(rest)")
                if rest > 0 { loop.perform { hop(rest - 1) } }
            }
            loop.schedule(after: .milliseconds(1)) {
                hop(3)
                Task(executorPreference: loop) { log.append("task") }
            }
            loop.schedule(after: .milliseconds(2)) { log.append("next") }
        }
        await loop.advance(by: .seconds(1))
        #expect(log.entries.filter { $0 != "task" } == ["3", "2", "1", "0", "next"])
        #expect(log.entries.contains("task") && log.entries.last == "next")
    }

    @Test(arguments: [false, true])
    func `What a timer writes is read before the next timer fires (2)`(
        isInOwnProcess: Bool
    ) async throws {
        let held = try HeldLoop(isInOwnProcess: isInOwnProcess)
        let loop = held.loop
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let (reading, writing) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let watch = await held.run { [log, reader = reading.number, writer = writing.number] in
            let watch = loop.watch(reader, for: .readable) { _ in
                var byte: UInt8 = 0
                #expect(read(reader, &byte, 1) == 1)
                log.append("read \(byte)")
                // The next byte comes only because this one was read.
                if byte < 3 { #expect(write(writer, [byte + 1], 1) == 1) }
            }
            loop.schedule(after: .milliseconds(1)) { #expect(write(writer, [1], 1) == 1) }
            loop.schedule(after: .milliseconds(2)) { log.append("next") }
            return UncheckedWatch(watch: watch)
        }
        await loop.advance(by: .seconds(1))
        #expect(log.entries == ["read 1", "read 2", "read 3", "next"])
        await held.run { watch.watch.cancel() }
    }

    @Test func `The clock waits while another thread is busy for the loop (2)`() async throws {
        let worker = try HeldLoop()
        let isBusy = Switch(), isDone = Switch()
        await held.run { [loop, log] in
            loop.schedule(after: .milliseconds(1)) {
                isBusy.turnOn()
                worker.loop.perform {
                    // As long as the loop likes to run ahead.
                    for _ in 0..<1000 { sched_yield() }
                    loop.perform {
                        log.append("outcome")
                        isDone.turnOn()
                    }
                }
            }
            loop.schedule(after: .milliseconds(2)) { log.append("next") }
        }
        await loop.advance(by: .milliseconds(2)) { isBusy.isOn && !isDone.isOn }
        #expect(log.entries == ["outcome", "next"])
    }

    @Test func `Time passes only by moves, and nothing makes the loop sleep for a time (4)`() async
    {
        await set([("due", 0), ("later", 1)])
        await loop.advance(by: .zero)
        #expect(log.entries == ["due at 0.0 seconds"])
        // By the clock of the machine it is due.
        let due = SuspendingClock.now + .milliseconds(1)
        while SuspendingClock.now < due { sched_yield() }
        let sleep = await held.run { [loop] in loop.timers.millisecondsToNext }
        #expect(sleep == -1)
        #expect(log.entries.count == 1)
        await loop.advance(by: .milliseconds(1))
        #expect(log.entries.last == "later at 0.001 seconds")
    }

    @Test func `Both times of a loop go together`() async {
        let (now, continuous) = await held.run { [loop] in (loop.now, loop.continuousNow) }
        await loop.advance(by: .seconds(3601))
        let passed = await held.run { [loop] in
            (now.duration(to: loop.now), continuous.duration(to: loop.continuousNow))
        }
        #expect(passed.0 == .seconds(3601))
        #expect(passed.1 == .seconds(3601))
    }

    @Test func `200 debounces of 250 ms are each quiet at 249 ms, and over at 250 ms`() async {
        for number in 1...200 {
            await held.run { [loop, log] in
                var timer: EventLoop.Timer?
                // The last one counts, as in a debounce.
                for _ in 0..<3 {
                    timer?.cancel()
                    timer = loop.schedule(after: .milliseconds(250)) { log.append("over") }
                }
            }
            await loop.advance(by: .milliseconds(249))
            #expect(log.entries.count == number - 1)
            await loop.advance(by: .milliseconds(1))
            #expect(log.entries.count == number)
        }
    }

    @Test func `A day with a timer each minute is one move`() async {
        await held.run { [loop, log] in
            func tick() {
                loop.schedule(after: .seconds(60)) {
                    log.append("tick")
                    tick()
                }
            }
            tick()
        }
        await loop.advance(by: .seconds(24 * 60 * 60))
        #expect(log.entries.count == 24 * 60)
    }

    @Test func `A move ends with the loop`() async {
        await held.run { [loop] in _ = loop.schedule(after: .seconds(1)) { loop.stop() } }
        await loop.advance(by: .seconds(2))
    }

    @Test func `A call fails at its limit by the clock of its loop, and not before`() async throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let (ours, theirs) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        let client = try await Connection.open(calling: ours, on: loop)
        // Nobody reads it.
        await client.callInVain { [log] in log.append($0) }
        await loop.advance(by: .seconds(25) - .nanoseconds(1))
        #expect(log.entries.isEmpty)
        await loop.advance(by: .nanoseconds(1))
        #expect(log.entries == [ErrorName.timeout.string])
        withExtendedLifetime(theirs) {}
        await client.close()
    }

    @Test func `The clock of the machine is not moved by hand`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop.startThread(named: "system")
            await loop.advance(by: .zero)
        }
    }

    @Test func `A held clock is not read on another thread`() async {
        await #expect(processExitsWith: .failure) {
            _ = try EventLoop.startThread(named: "held", clock: .held).now
        }
    }
}

/// A watch, which is touched on its loop's thread only.
private struct UncheckedWatch: @unchecked Sendable {
    let watch: EventLoop.Watch
}

extension Connection {
    /// Makes a call, and passes on the name of the error that comes of it.
    fileprivate func callInVain(_ completion: @escaping @Sendable (String) -> Void) {
        call(
            nil, "/", "a.Silent", "Call", timeout: .seconds(25), write: { _ in }, read: { _ in }
        ) { (result: Result<Void, any Error>) in
            guard case .failure(let error) = result else { return completion("no error") }
            completion((error as? DBusError)?.name.string ?? "\(error)")
        }
    }
}
