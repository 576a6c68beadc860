package import DBus
package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
package import KeyedArchive

/// The steps around the handler of every method.
extension DefaultsObject {
    /// Carries out a call.
    ///
    /// If its change or its work has no room now, the call is postponed.
    func carryOut(_ call: MethodCall, by answer: Answer) throws {
        statistics.noteCall()
        try attempt(call) { try answer(self, call) }
    }

    /// Does a step of a call.
    ///
    /// If something is missing that will be there soon, the whole call is postponed.
    func attempt(_ call: MethodCall, _ step: () throws -> Void) throws {
        do {
            try step()
        } catch let error where error is RoomAwaited || error is LaneAwaited {
            statistics.notePostponement()
            call.postpone()
        } catch let error as StorageError {
            guard error.isDamage else { throw error }
            guard requestRepair(because: error.description), !call.isAnswered else {
                // What a disk that does not answer gives looks like damage.
                throw database.diskDoubt ?? error
            }
            call.postpone()
        }
    }
}

/// The handler of a method.
typealias Answer = @Sendable (isolated DefaultsObject, MethodCall) throws -> Void

/// Names in calls.
///
/// They are checked when they are read.
struct CheckedNames: TransactionNames {
    /// A program in a sandbox, and what it may change.
    struct Limit {
        let scope: AccessScope
        let application: String?
        /// Called with a domain that it may not change.
        let noteRefusal: @Sendable (Domain) -> Void
    }

    /// The machines that suffixes may name.
    let hosts: HostNames
    /// For the domains that are to be changed; nil if all may be changed.
    var limit: Limit?

    func domain(_ text: String) throws -> Domain {
        let domain = try Domain(text, on: hosts)
        if let limit, !limit.scope.mayChange(domain) {
            limit.noteRefusal(domain)
            throw ContractError(confined: limit.application, changing: domain, on: hosts)
        }
        return domain
    }

    func key(_ text: String) throws -> Key { try Key(text) }

    func expectation(_ key: String, _ generation: UInt64) throws -> Expectation {
        try Expectation(key, generation)
    }

    func token(_ text: String) throws -> Token { try Token(text) }
}

/// Names in calls about applications.
///
/// Suffixes are not allowed.
struct ApplicationNames: NameReading {
    func domain(_ text: String) throws -> Domain { try Domain(ofApplication: text) }

    func key(_ text: String) throws -> Key { try Key(text) }
}

/// The table from the errors of other modules to those of the contract.
extension ContractError {
    init(_ error: ModelError) {
        let code: Code =
            switch error.code {
            case .invalidDomain: .invalidDomain
            case .invalidKey: .invalidKey
            default: .invalidArguments
            }
        self.init(code, error.description)
    }

    init(_ error: ArchiveError) {
        self.init(.invalidArchive, error.description)
    }

    init(_ error: StorageError) {
        let isTooLarge = error.code == .keyNamesTooLarge || error.code == .changeTooLarge
        self.init(isTooLarge ? .tooLarge : .storageFailed, error.description)
    }
}

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
