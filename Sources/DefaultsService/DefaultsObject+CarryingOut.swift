import DBus
import DefaultsStorage

/// What surrounds the handler of every method.
extension DefaultsObject {
    /// From how many entries on their memory is worth giving back, and how long after.
    private static let manyEntries = 1000
    private static let timeToTidy = Duration.seconds(1)

    /// Carries out a call, or has it come again when there is room for its change, or for its work.
    func carryOut(_ call: MethodCall, by answer: Answer) throws {
        statistics.calls += 1
        try attempt(call) { try answer(self, call) }
    }

    /// Does a step of a call, or has the whole call come again.
    func attempt(_ call: MethodCall, _ step: () throws -> Void) throws {
        do {
            try step()
        } catch let error where error is RoomAwaited || error is LaneAwaited {
            // It is counted when it comes again.
            statistics.calls -= 1
            call.postpone()
        } catch let error as StorageError {
            guard error.isDamage, repair(because: error.description), !call.isAnswered else {
                throw error
            }
            call.postpone()
        }
    }

    /// Notes that so many entries were worked on, so that the memory which very many take for a
    /// moment is given back soon: at once would cost each of several such calls some milliseconds.
    func noteWork(onEntries count: Int) {
        if count > Self.manyEntries { tidySoon() }
    }

    /// Gives free memory back in a moment.
    func tidySoon() {
        guard tidyTimer == nil else { return }
        tidyTimer = connection.loop.schedule(after: Self.timeToTidy) {
            self.assumeIsolated { $0.tidyTimer = nil }
            Memory.returnFreePages()
        }
    }
}

/// What carries out the calls of a method.
typealias Answer = @Sendable (isolated DefaultsObject, MethodCall) throws -> Void
