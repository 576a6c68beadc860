import CLinux
package import DBus
package import DefaultsModel
import DefaultsProtocol
package import DefaultsStorage
package import KeyedArchive

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

/// The names in calls, as the service takes them: checked when they are read.
struct CheckedNames: TransactionNames {
    /// The machines that suffixes may name.
    let hosts: HostNames

    func domain(_ text: String) throws -> Domain { try Domain(text, on: hosts) }

    func key(_ text: String) throws -> Key { try Key(text) }

    func expectation(_ key: String, _ generation: UInt64) throws -> Expectation {
        try Expectation(key, generation)
    }

    func token(_ text: String) throws -> Token { try Token(text) }
}

/// The names in calls for applications: no suffix picks a layer.
struct ApplicationNames: NameReading {
    func domain(_ text: String) throws -> Domain { try Domain(ofApplication: text) }

    func key(_ text: String) throws -> Key { try Key(text) }
}

/// The one table from the errors of the modules below to those of the contract.
extension DefaultsError {
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

/// A name or an argument that is refused is told by the contract's name for it.
extension ModelError: ErrorReply {
    /// `InvalidDomain`, `InvalidKey` or `InvalidArgs`.
    package var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    package var errorMessage: String { description }
}

/// An archive that is refused is told by the contract's name for it.
extension ArchiveError: ErrorReply {
    /// `InvalidArchive`.
    package var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    package var errorMessage: String { description }
}

/// What the disk refuses is told by the contract's name for it.
extension StorageError: ErrorReply {
    /// `StorageFailed`, or `TooLarge` if it is for the size of what was to be stored.
    package var errorName: ErrorName { DefaultsError(self).errorName }
    /// The sentence for people.
    package var errorMessage: String { description }
}

/// The memory of the process, of which a large value should leave no trace.
enum Memory {
    /// Has the C library return large blocks to the system as soon as they are freed.
    ///
    /// By default it raises its thresholds to the largest block that it has seen, up to 32 MiB,
    /// and has a heap for each thread. To be called before there is a second one.
    static func returnLargeBlocks() {
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
        mallopt(M_ARENA_MAX, 1)
    }

    /// Returns what lies free between small blocks in use, after work that made very many.
    ///
    /// It takes some microseconds if little is free, and some milliseconds for 100 MB.
    static func returnFreePages() {
        malloc_trim(0)
    }
}
