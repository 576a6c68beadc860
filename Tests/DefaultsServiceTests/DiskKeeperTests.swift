import DefaultsModel
import Testing

@testable import DefaultsCore
@testable import DefaultsStorage

/// The order of the work on the store, without a disk and without a bus.
@Suite struct DiskKeeperTests {
    private let start = SuspendingClock.now
    private let refusal = StorageError.storeGone("/defaults.db")

    /// A keeper with a change that was made at the start.
    private func changed() -> DiskKeeper {
        let keeper = DiskKeeper()
        keeper.noteChange(at: start, pendingBytes: 1)
        return keeper
    }

    /// Checks what a call has returned, which may have changed the keeper.
    private func expect(_ condition: Bool, at place: SourceLocation = #_sourceLocation) {
        #expect(condition, sourceLocation: place)
    }

    private func waiter(
        for flush: UInt64, _ resume: @escaping (DiskKeeper.Outcome) -> Void = { _ in }
    ) -> DiskKeeper.Waiter {
        DiskKeeper.Waiter(flush: flush, resume: resume)
    }

    @Test("Nothing is done if nothing has changed")
    func idle() {
        let keeper = DiskKeeper()
        #expect(keeper.next(at: start) == nil)
        #expect(keeper.isAtRest && !keeper.isWorking && !keeper.hasEnded)
    }

    @Test("A change is written after a quiet period, at once on demand, and not during a flush")
    func flushing() {
        let keeper = changed()
        let due = start + FlushSchedule.Delays().quiet
        #expect(keeper.next(at: start) == .wait(until: due))
        #expect(keeper.next(at: due) == .flush)
        keeper.noteDemand(at: start)
        #expect(keeper.next(at: start) == .flush)
        keeper.beginFlush()
        #expect(keeper.isWorking && !keeper.isAtRest && !keeper.mayFlush)
        keeper.noteChange(at: start, pendingBytes: 1)
        keeper.noteDemand(at: start)
        #expect(keeper.next(at: due) == nil)
        _ = keeper.endFlush(1)
        #expect(keeper.next(at: due) == .flush)
    }

    @Test("A waiter is resumed once, by the flush that it waits for")
    func waiters() {
        let keeper = changed()
        keeper.add(waiter(for: 1))
        keeper.beginFlush()
        keeper.add(waiter(for: 2))
        expect(keeper.endFlush(1).map(\.flush) == [1])
        keeper.beginFlush()
        expect(keeper.endFlush(2).map(\.flush) == [2])
        keeper.beginFlush()
        expect(keeper.endFlush(3).isEmpty)
    }

    @Test("A failed flush is retried after a pause, and its reason is reported as new once")
    func failing() {
        let keeper = changed()
        keeper.add(waiter(for: 1))
        keeper.beginFlush()
        expect(keeper.failFlush(refusal, at: start))
        #expect(keeper.failure?.code == refusal.code)
        expect(keeper.takeWaiters().count == 1)
        expect(keeper.takeWaiters().isEmpty)
        let retry = start + FlushSchedule.firstRetryDelay
        #expect(keeper.next(at: start) == .wait(until: retry))
        #expect(keeper.next(at: retry) == .flush)
        keeper.beginFlush()
        expect(!keeper.failFlush(refusal, at: retry))
        keeper.noteDemand(at: retry)
        keeper.beginFlush()
        _ = keeper.endFlush(3)
        #expect(keeper.failure == nil)
        keeper.beginFlush()
        expect(keeper.failFlush(refusal, at: retry))
    }

    @Test("A repair comes before the next flush, and after the current one")
    func repairFirst() {
        let keeper = changed()
        keeper.noteDemand(at: start)
        keeper.beginFlush()
        expect(keeper.note(damage: "one", at: start) == .repair(isNew: true))
        expect(keeper.note(damage: "two", at: start) == .repair(isNew: false))
        #expect(keeper.next(at: start) == nil)
        keeper.noteChange(at: start, pendingBytes: 1)
        keeper.noteDemand(at: start)
        keeper.add(waiter(for: 2))
        _ = keeper.endFlush(1)
        #expect(!keeper.isAtRest)
        #expect(keeper.next(at: start) == .repair)
        expect(keeper.beginRepair() == "one")
        #expect(keeper.isWorking && !keeper.mayFlush && keeper.next(at: start) == nil)
        // Those who waited for a flush of the damaged store wait for one of the new store.
        expect(keeper.endRepair(isSuccess: true, at: start).map(\.flush) == [2])
        #expect(keeper.isAtRest)
        #expect(keeper.next(at: start) == .flush)
    }

    @Test("A store that is damaged again at once is repaired again only after a pause")
    func pauseBetweenRepairs() {
        let keeper = DiskKeeper()
        var now = start
        let repair = { (isSuccess: Bool) in
            expect(keeper.note(damage: "damage", at: now) == .repair(isNew: true))
            _ = keeper.beginRepair()
            _ = keeper.endRepair(isSuccess: isSuccess, at: now)
        }
        repair(true)
        expect(keeper.note(damage: "damage", at: now + .seconds(59)) == .none)
        #expect(keeper.isAtRest && keeper.next(at: now) == nil)
        now += .seconds(60)
        // Each failure doubles the pause.
        repair(false)
        expect(keeper.note(damage: "damage", at: now + .seconds(119)) == .none)
        now += .seconds(120)
        repair(true)
        now += .seconds(60)
        repair(true)
    }

    @Test("A repair that is put off is followed by attempts to flush, and may soon be due again")
    func putOff() {
        let keeper = changed()
        expect(keeper.note(damage: "damage", at: start) == .repair(isNew: true))
        _ = keeper.beginRepair()
        expect(keeper.putOffRepair(refusal, at: start))
        #expect(keeper.failure != nil && keeper.isAtRest)
        #expect(keeper.next(at: start) == .wait(until: start + .seconds(1)))
        expect(keeper.note(damage: "damage", at: start + .milliseconds(999)) == .none)
        let later = start + .seconds(1)
        #expect(keeper.next(at: later) == .flush)
        expect(keeper.note(damage: "damage", at: later) == .repair(isNew: true))
        _ = keeper.beginRepair()
        // The same error is not told again, and the pause is twice as long.
        expect(!keeper.putOffRepair(refusal, at: later))
        #expect(keeper.next(at: later) == .wait(until: later + .seconds(2)))
    }

    @Test("A change that waits for room continues once, after a flush or a repair")
    func room() {
        let keeper = changed()
        keeper.beginFlush()
        keeper.awaitRoom()
        #expect(keeper.isRoomAwaited)
        _ = keeper.endFlush(1)
        expect(keeper.endAwaitingRoom())
        expect(!keeper.endAwaitingRoom())
        keeper.awaitRoom()
        _ = keeper.note(damage: "damage", at: start)
        _ = keeper.beginRepair()
        _ = keeper.endRepair(isSuccess: false, at: start)
        #expect(!keeper.isRoomAwaited)
    }

    @Test("After the end nothing is done, and the first end counts")
    func end() throws {
        let keeper = changed()
        keeper.noteDemand(at: start)
        keeper.end(with: .failure(refusal))
        keeper.end(with: .success(.first))
        #expect(keeper.hasEnded && !keeper.mayFlush && keeper.isAtRest)
        #expect(keeper.next(at: start + .seconds(60)) == nil)
        #expect(throws: StorageError.self) { try keeper.end?.get() }
    }
}
