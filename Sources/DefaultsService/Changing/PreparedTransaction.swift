import DefaultsModel
import DefaultsProtocol
import KeyedArchive

/// A transaction whose archives are checked.
struct PreparedTransaction: Sendable {
    let transaction: Transaction
    /// The keys to set.
    let keys: [Key]
    /// Whether the reply waits for the disk.
    let isDurable: Bool
    /// The archives by their keys, or why one of them is refused: that of a layer comes before that.
    let assignments: Result<[(key: Key, archive: KeyedArchive)], any Error>

    /// - Parameter archive: Makes an archive of what the call has brought.
    /// - Throws: `ModelError` where the parts of the transaction contradict each other.
    init<Content>(
        _ arguments: TransactionArguments<CheckedNames, Content>,
        archive: (Content) throws -> KeyedArchive
    ) throws {
        keys = arguments.set.map(\.0)
        transaction = try Transaction(
            domain: arguments.domain, set: keys, removed: arguments.removed,
            expected: arguments.expected, token: arguments.options.token)
        isDurable = arguments.options.isDurable
        assignments = Result {
            try arguments.set.map { key, content in
                (key: key, archive: try Self.naming(key) { try archive(content) })
            }
        }
    }

    /// Says which of several keys an archive that is refused was for.
    private static func naming(
        _ key: Key, _ archive: () throws -> KeyedArchive
    ) throws -> KeyedArchive {
        do {
            return try archive()
        } catch let error as ArchiveError {
            throw DefaultsError(DefaultsError(error), of: key)
        } catch let error as DefaultsError {
            throw DefaultsError(error, of: key)
        }
    }
}
