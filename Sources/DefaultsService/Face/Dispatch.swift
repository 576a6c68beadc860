import DefaultsCore
package import DBus
package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
package import KeyedArchive

/// The steps around the handler of every method.
extension BusFace {
    /// Carries out a call.
    ///
    /// If its change or its work has no room now, the call is postponed.
    func carryOut(_ call: MethodCall, by answer: Answer) throws {
        settings.statistics.noteCall()
        try attempt(call) { try answer(self, call) }
    }

    /// Does a step of a call.
    ///
    /// If something is missing that will be there soon, the whole call is postponed.
    func attempt(_ call: MethodCall, _ step: () throws -> Void) throws {
        do {
            try step()
        } catch let error where error is RoomAwaited || error is LaneAwaited {
            settings.statistics.notePostponement()
            call.postpone()
        } catch let error as StorageError {
            guard error.isDamage else { throw error }
            guard store.requestRepair(because: error.description), !call.isAnswered else {
                // What a disk that does not answer gives looks like damage.
                throw store.database.diskDoubt ?? error
            }
            call.postpone()
        }
    }
}

/// The handler of a method.
typealias Answer = @Sendable (BusFace, MethodCall) throws -> Void

/// The error of the contract for an invalid name or argument.
extension ModelError: ErrorReply {
    /// `InvalidDomain`, `InvalidKey` or `InvalidArgs`.
    package var errorName: ErrorName { ContractError(self).errorName }
    /// The message for people.
    package var errorMessage: String { description }
}

/// The error of the contract for an invalid archive.
extension ArchiveError: ErrorReply {
    /// `InvalidArchive`.
    package var errorName: ErrorName { ContractError(self).errorName }
    /// The message for people.
    package var errorMessage: String { description }
}

/// The error of the contract for a failure of the storage.
extension StorageError: ErrorReply {
    /// `StorageFailed`, or `TooLarge` if the reason is the size.
    package var errorName: ErrorName { ContractError(self).errorName }
    /// The message for people.
    package var errorMessage: String { description }
}
