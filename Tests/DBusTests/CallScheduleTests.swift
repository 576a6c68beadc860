import TestSupport
import Testing

@testable import DBus

/// Which call is next, without a bus.
@Suite struct CallScheduleTests {
    typealias Schedule = CallSchedule<String>
    typealias Peer = CallerProcess<String>

    /// The time, which stands still unless a test moves it.
    private static let now = SuspendingClock.now

    private static func caller(
        _ name: BusName, isOpen: Bool = true, of process: Peer? = nil
    ) -> Caller<String> {
        let caller = Caller<String>(name, isOpen ? .known(nil) : .unknown)
        if let process { caller.process = process }
        return caller
    }

    /// Adds calls of a caller, and gives it its turn.
    private func add(
        _ calls: [String], of caller: Caller<String>, size: Int = 1, to schedule: inout Schedule
    ) {
        for call in calls { schedule.add(call, Schedule.Load(size: size), of: caller) }
        schedule.giveTurn(to: caller)
    }

    /// Takes turns to the end, as the connection does.
    private func takeAll(_ schedule: inout Schedule) -> [String] {
        var taken: [String] = []
        while let caller = schedule.takeTurn(at: Self.now) {
            if let call = schedule.takeFirst(of: caller) { taken.append(call) }
            schedule.giveTurn(to: caller)
        }
        return taken
    }

    @Test func `Callers take turns, each with its calls in their order (1, 3)`() {
        var schedule = Schedule()
        let (a, b, c) = (Self.caller(":1.1"), Self.caller(":1.2"), Self.caller(":1.3"))
        add(["a1", "a2", "a3"], of: a, to: &schedule)
        add(["b1"], of: b, to: &schedule)
        add(["c1", "c2"], of: c, to: &schedule)
        #expect(takeAll(&schedule) == ["a1", "b1", "c1", "a2", "c2", "a3"])
        #expect(schedule.count == 0)
        #expect(schedule.size == 0)
        #expect(schedule.waitingCallers.isEmpty)
    }

    @Test func `A call may run unless something prevents it (2)`() {
        var schedule = Schedule()
        let caller = Self.caller(":1.1")
        #expect(schedule.isDue(caller, at: Self.now))
        #expect(!schedule.isDue(Self.caller(":1.2", isOpen: false), at: Self.now))
        schedule.isHeld = true
        #expect(!schedule.isDue(caller, at: Self.now))
        schedule.isHeld = false
        schedule.add("1", Schedule.Load(size: 1), of: caller)
        #expect(!schedule.isDue(caller, at: Self.now))
        _ = schedule.takeFirst(of: caller)
        #expect(schedule.isDue(caller, at: Self.now))
    }

    @Test
    func `A process that has kept the loop busy waits until all received calls are done (2)`() {
        var schedule = Schedule()
        let (busy, other) = (Self.caller(":1.1"), Self.caller(":1.2"))
        schedule.note(Schedule.allowance, of: busy, inTurn: false, at: Self.now)
        #expect(schedule.isDue(busy, at: Self.now))
        schedule.note(.nanoseconds(1), of: busy, inTurn: false, at: Self.now)
        #expect(!schedule.isDue(busy, at: Self.now))
        #expect(schedule.isDue(other, at: Self.now))
        schedule.noteDrained()
        #expect(schedule.isDue(busy, at: Self.now))
    }

    @Test func `A busy process stays busy until the others had as much time (2)`() {
        var schedule = Schedule()
        let (busy, waiting) = (Self.caller(":1.1"), Self.caller(":1.2"))
        add(["1", "2"], of: waiting, to: &schedule)
        schedule.note(Schedule.allowance * 2, of: busy, inTurn: false, at: Self.now)
        schedule.noteDrained()
        #expect(!schedule.isDue(busy, at: Self.now))
        schedule.note(Schedule.allowance, of: waiting, inTurn: true, at: Self.now)
        #expect(!schedule.isDue(busy, at: Self.now))
        schedule.note(.nanoseconds(1), of: waiting, inTurn: true, at: Self.now)
        #expect(schedule.isDue(busy, at: Self.now))
    }

    @Test func `A process has one turn among others, however many connections it has (3)`() {
        var schedule = Schedule()
        let many = Peer()
        let (a, b) = (Self.caller(":1.1", of: many), Self.caller(":1.2", of: many))
        let (c, d) = (Self.caller(":1.3", of: many), Self.caller(":1.4"))
        add(["a1", "a2"], of: a, to: &schedule)
        add(["b1", "b2"], of: b, to: &schedule)
        add(["c1"], of: c, to: &schedule)
        add(["d1", "d2", "d3"], of: d, to: &schedule)
        #expect(takeAll(&schedule) == ["a1", "d1", "b1", "d2", "c1", "d3", "a2", "b2"])
    }

    @Test func `A process that keeps the loop busy does so on all its connections (2)`() {
        var schedule = Schedule()
        let many = Peer()
        let (a, b) = (Self.caller(":1.1", of: many), Self.caller(":1.2", of: many))
        schedule.note(Schedule.allowance, of: a, inTurn: false, at: Self.now)
        schedule.note(.nanoseconds(1), of: b, inTurn: false, at: Self.now)
        for caller in [a, b, Self.caller(":1.3", of: many)] {
            #expect(!schedule.isDue(caller, at: Self.now))
        }
        #expect(schedule.isDue(Self.caller(":1.4"), at: Self.now))
    }

    @Test func `After its long calls a process rests while others make short ones (6)`() {
        var schedule = Schedule()
        let (long, short) = (Self.caller(":1.1"), Self.caller(":1.2"))
        schedule.note(.microseconds(1), of: short, inTurn: false, at: Self.now)
        schedule.note(Peer.grace, of: long, inTurn: false, at: Self.now)
        schedule.noteDrained()
        #expect(schedule.isDue(long, at: Self.now))
        schedule.note(.milliseconds(2), of: long, inTurn: false, at: Self.now)
        schedule.noteDrained()
        #expect(!schedule.isDue(long, at: Self.now))
        #expect(schedule.isDue(short, at: Self.now))

        add(["1"], of: long, to: &schedule)
        #expect(takeAll(&schedule) == [])
        #expect(!schedule.hasTurns)
        let end = Self.now + .milliseconds(2) * Peer.restFactor
        #expect(schedule.nextRestEnd == end)
        #expect(schedule.endRests(at: end - .nanoseconds(1)) == false)
        #expect(schedule.endRests(at: end) == true)
        #expect(schedule.nextRestEnd == nil)
        #expect(takeAll(&schedule) == ["1"])
    }

    @Test func `No process rests longer than the limit, or if room is needed (6)`() {
        var schedule = Schedule()
        let long = Self.caller(":1.1")
        schedule.note(.microseconds(1), of: Self.caller(":1.2"), inTurn: false, at: Self.now)
        schedule.note(.seconds(7), of: long, inTurn: false, at: Self.now)
        add(["1"], of: long, to: &schedule)
        #expect(takeAll(&schedule) == [])
        #expect(schedule.nextRestEnd == Self.now + Peer.longestRest)
        #expect(schedule.endRests(at: nil) == true)
        #expect(takeAll(&schedule) == ["1"])
    }

    @Test func `A process that is alone with its calls, long and short, does not rest (6)`() {
        var schedule = Schedule()
        let (long, other) = (Self.caller(":1.1"), Self.caller(":1.2"))
        schedule.note(.microseconds(1), of: other, inTurn: false, at: Self.now)
        let later = Self.now + Schedule.attention
        for time in [Peer.grace * 2, .microseconds(1)] {
            schedule.note(time, of: long, inTurn: false, at: later)
        }
        schedule.noteDrained()
        #expect(schedule.isDue(long, at: later))
    }

    @Test func `The long calls of a second before no longer count (6)`() {
        var schedule = Schedule()
        let (long, short) = (Self.caller(":1.1"), Self.caller(":1.2"))
        schedule.note(Peer.grace, of: long, inTurn: false, at: Self.now)
        let later = Self.now + .seconds(1)
        schedule.note(.milliseconds(2), of: long, inTurn: false, at: later)
        schedule.note(.microseconds(1), of: short, inTurn: false, at: later)
        schedule.noteDrained()
        #expect(schedule.isDue(long, at: later))
    }

    @Test func `While calls are held nobody has a turn, and afterwards turns come in order`() {
        var schedule = Schedule()
        let caller = Self.caller(":1.1")
        schedule.isHeld = true
        add(["1", "2"], of: caller, to: &schedule)
        #expect(!schedule.hasTurns)
        #expect(takeAll(&schedule) == [])
        schedule.isHeld = false
        #expect(schedule.hasTurns)
        #expect(takeAll(&schedule) == ["1", "2"])
    }

    @Test func `The schedule is full by number of calls, bytes, or calls with descriptors (4)`() {
        let bounds = Schedule.Bounds(size: 100, calls: 3, withDescriptors: 1)
        let caller = Self.caller(":1.1")
        var schedule = Schedule(bounds: bounds)
        // If there is room for a byte, there is room for a message.
        #expect(schedule.hasRoom(for: Schedule.Load(size: 1000)))
        add(["1"], of: caller, size: 99, to: &schedule)
        #expect(schedule.hasRoom(for: Schedule.Load(size: 1000)))
        add(["2"], of: caller, to: &schedule)
        #expect(!schedule.hasRoom(for: Schedule.Load(size: 0)))

        schedule = Schedule(bounds: bounds)
        let other = Self.caller(":1.2")
        add(["1", "2"], of: other, to: &schedule)
        #expect(!schedule.isFull)
        schedule.add("3", Schedule.Load(size: 1, hasDescriptors: true), of: other)
        #expect(schedule.isFull)
        _ = schedule.takeFirst(of: other)
        #expect(schedule.hasRoom(for: Schedule.Load(size: 1)))
        #expect(!schedule.hasRoom(for: Schedule.Load(size: 1, hasDescriptors: true)))
        #expect(schedule.takeLast(of: other) == "3")
        #expect(schedule.hasRoom(for: Schedule.Load(size: 1, hasDescriptors: true)))
    }

    @Test func `The largest user has most calls or bytes waiting, including the new call`() {
        var schedule = Schedule(bounds: Schedule.Bounds(size: 100, calls: 10, withDescriptors: 1))
        let (large, many, new) = (Self.caller(":1.1"), Self.caller(":1.2"), Self.caller(":1.3"))
        add(["1"], of: large, size: 60, to: &schedule)
        add(["1", "2", "3"], of: many, to: &schedule)
        #expect(schedule.greediest(adding: Schedule.Load(size: 1), of: new) === large)
        #expect(schedule.greediest(adding: Schedule.Load(size: 61), of: new) === new)
        _ = schedule.takeLast(of: large)
        #expect(schedule.greediest(adding: Schedule.Load(size: 1), of: new) === many)
        #expect(schedule.greediest(adding: Schedule.Load(size: 1), of: many) === many)
    }

    @Test func `Of many connections of one process one pays, and no other process`() {
        var schedule = Schedule(bounds: Schedule.Bounds(size: 100, calls: 4, withDescriptors: 1))
        let many = Peer()
        var callers: [Caller<String>] = []
        for number in 1...4 {
            let caller = Self.caller(BusName(stringLiteral: ":1.\(number)"), isOpen: false)
            schedule.add("1", Schedule.Load(size: 1), of: caller)
            callers.append(caller)
        }
        let new = Self.caller(":1.9")
        #expect(schedule.greediest(adding: Schedule.Load(size: 1), of: new) === new)
        // Their processes become known while their calls wait.
        for caller in callers { schedule.note(many, of: caller) }
        let payer = schedule.greediest(adding: Schedule.Load(size: 1), of: new)
        #expect(callers.contains { $0 === payer })
        for caller in callers { #expect(schedule.takeFirst(of: caller) == "1") }
        add(["1"], of: new, to: &schedule)
        let last = Self.caller(":1.10")
        #expect(schedule.greediest(adding: Schedule.Load(size: 2), of: last) === last)
    }

    @Test func `A queue returns its elements, from either end`() {
        var queue = Queue<Int>()
        var expected: [Int] = []
        var generator = SeededGenerator()
        for number in 0..<10_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1, 2:
                queue.append(number)
                expected.append(number)
            case 3:
                #expect(queue.popFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
            default:
                #expect(queue.popLast() == expected.popLast())
            }
            #expect(queue.count == expected.count)
        }
    }

    @Test
    func `The table forgets the callers with the oldest calls, but none with waiting calls`() {
        var table = CallerTable<String>(capacity: 4)
        var processes = ProcessTable<String>()
        var schedule = Schedule()
        var made: [BusName] = []
        func call(_ name: BusName) -> Caller<String> {
            table.caller(named: name) { name in
                made.append(name)
                return Self.caller(name)
            }
        }
        schedule.add("1", Schedule.Load(size: 1), of: call(":1.1"))
        schedule.note(processes.process(1), of: call(":1.1"))
        let kept = processes.process(1)
        for name in [":1.2", ":1.3", ":1.4", ":1.2"] as [BusName] { _ = call(name) }
        // The two that go are 3 and 4: 1 waits, 2 has called again.
        _ = call(":1.5")
        made = []
        for name in [":1.1", ":1.2", ":1.5", ":1.3"] as [BusName] { _ = call(name) }
        #expect(made == [":1.3"])
        #expect(processes.process(1) === kept)
    }
}
