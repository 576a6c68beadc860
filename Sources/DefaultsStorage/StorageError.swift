package import DefaultsModel
internal import SQLite
internal import SystemCalls

/// A failure of the storage, or a limit of it that was reached.
package struct StorageError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as in the source.
        package let description: String

        /// A directory cannot be made, or is not this user's alone.
        package static let directoryUnusable = Code(description: "directoryUnusable")
        /// Another process owns the database.
        package static let inUse = Code(description: "inUse")
        /// The store or the journal cannot be opened.
        package static let cannotOpen = Code(description: "cannotOpen")
        /// The file is a database of another program.
        package static let notOurDatabase = Code(description: "notOurDatabase")
        /// A later version of this program has made the database.
        package static let newerSchema = Code(description: "newerSchema")
        /// The store's structure is damaged.
        package static let damagedDatabase = Code(description: "damagedDatabase")
        /// The row of one key is damaged; every other key can be read.
        package static let damagedRow = Code(description: "damagedRow")
        /// The store cannot be read.
        package static let cannotRead = Code(description: "cannotRead")
        /// The disk of the store does not answer; nothing was changed.
        package static let diskUnusable = Code(description: "diskUnusable")
        /// The store cannot be written; what was to be written is still pending.
        package static let cannotWrite = Code(description: "cannotWrite")
        /// The next process may find another store in the place of this one, so nothing is written to
        /// this one; what was to be written is still pending.
        package static let replacementUndecided = Code(description: "replacementUndecided")
        /// A change cannot be put into the journal; it did not happen.
        package static let cannotJournal = Code(description: "cannotJournal")
        /// Too much is pending already; the change did not happen.
        package static let pendingFull = Code(description: "pendingFull")
        /// The change needs more memory than all pending changes may; it did not happen.
        package static let changeTooLarge = Code(description: "changeTooLarge")
        /// The ceiling of generations is reached; the change did not happen.
        package static let generationsExhausted = Code(description: "generationsExhausted")
        /// A backup cannot be made.
        package static let cannotBackUp = Code(description: "cannotBackUp")
        /// The history cannot be read.
        package static let historyUnusable = Code(description: "historyUnusable")
        /// There is no page of counters to be had.
        package static let noPage = Code(description: "noPage")
        /// The names of a domain's keys would be too long together; the change did not happen.
        package static let keyNamesTooLarge = Code(description: "keyNamesTooLarge")
    }

    /// What kind of failure it is.
    package let code: Code
    /// The whole of it in a sentence or two: what, why, and what to do.
    ///
    /// It contains no value.
    package let description: String
    /// The domain that it is about, if it is about one.
    package let domain: Domain?
    /// The key that it is about, if it is about one.
    package let key: Key?
    /// The failure below it, a `SystemError` or a `SQLiteError`, if there is one.
    package let cause: (any Error)?

    init(
        _ code: Code, _ description: String, domain: Domain? = nil, key: Key? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.description = description
        self.domain = domain
        self.key = key
        self.cause = cause
    }
}

extension StorageError {
    /// Whether another failure tells nobody anything new: a broken disk fails now in one call and now
    /// in another, with words of their own.
    package func isRepeated(by other: StorageError) -> Bool {
        code == other.code
            && (cause as? SQLiteError)?.code == (other.cause as? SQLiteError)?.code
            && (cause as? SystemError)?.number == (other.cause as? SystemError)?.number
    }
}
