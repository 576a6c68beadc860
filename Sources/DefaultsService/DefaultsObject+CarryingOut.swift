import DBus
import DefaultsProtocol
import DefaultsStorage

/// What surrounds the handler of every method.
extension DefaultsObject {
    /// From how many entries on their memory is worth giving back, and how long after.
    private static let manyEntries = 1000
    private static let timeToTidy = Duration.seconds(1)

    /// Carries out a call, and gives each refusal its name in the contract.
    ///
    /// Where the handler finds no room for a change because the disk has not taken earlier ones yet,
    /// it is called again when the disk has.
    func carryOut(_ call: MethodCall, by answer: @escaping Answer) throws {
        do {
            try answer(self, call)
        } catch let error as StorageError {
            guard error.code == .pendingFull, isFlushing, storageError.isEmpty else {
                throw DefaultsError(refusing: error) ?? error
            }
            postpone(PostponedCall(call: call, answer: answer))
        } catch {
            throw DefaultsError(refusing: error) ?? error
        }
    }

    /// Has everybody wait, so that calls keep their order, until the flush under way has ended.
    private func postpone(_ call: PostponedCall) {
        connection.assumeIsolated { $0.holdCalls() }
        postponed = call
    }

    /// Takes up the call that found no room: the flush that has ended has made some or, where it has
    /// failed, the call is refused as others will be.
    func resumePostponed() {
        guard let postponed else { return }
        self.postponed = nil
        connection.assumeIsolated { $0.releaseCalls() }
        do {
            try postponed.answer(self, postponed.call)
        } catch {
            postponed.call.fail(DefaultsError(refusing: error) ?? error)
        }
    }

    /// Notes that so many entries were worked on, so that the memory which very many take for a
    /// moment is given back soon: at once would cost each of several such calls some milliseconds.
    func noteWork(onEntries count: Int) {
        guard count > Self.manyEntries, tidyTimer == nil else { return }
        tidyTimer = connection.loop.schedule(after: Self.timeToTidy) {
            self.assumeIsolated { $0.tidyTimer = nil }
            Memory.returnFreePages()
        }
    }
}

/// What carries out the calls of a method.
typealias Answer = @Sendable (isolated DefaultsObject, MethodCall) throws -> Void

/// A call that is carried out again when there is room for its change.
struct PostponedCall {
    let call: MethodCall
    let answer: Answer
}
