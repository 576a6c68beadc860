package import DefaultsModel
internal import Glibc
internal import SQLite
internal import SystemCalls

/// The next values of one domain in a backup, in the order of the keys' bytes.
package struct BackupPart: Sendable {
    /// The domain.
    package let domain: Domain
    /// The values; those that are damaged are left out.
    package private(set) var values: [ChangeProposal.Assignment] = []
    /// Whether the domain has no values after these.
    package internal(set) var isLast = false

    init(of domain: Domain) {
        self.domain = domain
    }

    /// Takes the current row of `BackupReader`, unless it is damaged.
    mutating func take(row: borrowing Statement) {
        guard let key = row.text(at: 3).flatMap({ try? Key($0) }),
            let generation = Generation(column: row.integer(at: 4)),
            let archive = row.blob(at: 7),
            UInt64(bitPattern: row.integer(at: 5))
                == RowChecksum.of(domain, key, generation, archive)
        else { return }
        values.append(.init(key: key, archive: archive))
    }
}

/// Reads a backup on the writer's thread, a little at a time.
///
/// ```swift
/// let reader = try await writer.open(backup)
/// while try await reader.verify() {}
/// while let part = try await reader.next() { … }
/// ```
///
/// A backup that is removed meanwhile can still be read to its end.
package actor BackupReader {
    private static let rowsAtOnce = 256
    private static let bytesAtOnce = 1 << 20

    private nonisolated let thread: WriterThread
    private let path: String
    private let connection: Connection
    private let check: StoreCheck
    private let rows: Statement
    /// Whether `rows` is at a row that was not read; nil before the first.
    private var hasRow: Bool?

    init(at path: String, on thread: WriterThread) throws(StorageError) {
        self.thread = thread
        self.path = path
        do throws(SQLiteError) {
            connection = try Connection(path: path, flags: .readOnly)
            try connection.pragma("trusted_schema", "OFF")
            rows = try connection.prepare(BackupReader.rows)
        } catch {
            throw .storeFailure(path, error, .cannotOpen)
        }
        check = StoreCheck(of: connection, path: path)
    }

    /// The writer's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Verifies the next part of the backup.
    ///
    /// - Returns: Whether there is more to verify.
    /// - Throws: `.cannotRead` if the disk fails.
    package func verify() throws(StorageError) -> Bool {
        try check.advance()
    }

    /// The damage that `verify()` has found.
    package var damage: StoreDamage { check.damage }

    /// The next values, in the order of the domains and keys; nil after the last.
    ///
    /// - Throws: `.cannotRead`, or `.damagedDatabase`.
    package func next() throws(StorageError) -> BackupPart? {
        do throws(SQLiteError) {
            if hasRow == nil { hasRow = try rows.step() }
            while hasRow == true {
                if let part = try readPart() { return part }
            }
            return nil
        } catch {
            throw .storeFailure(path, error, .cannotRead)
        }
    }

    /// The given domains that have no values here.
    ///
    /// - Throws: `.cannotRead`, or `.damagedDatabase`.
    package func domainsWithoutValues(among domains: [Domain]) throws(StorageError) -> [Domain] {
        do throws(SQLiteError) {
            let select = try connection.prepare(BackupReader.anyValue)
            var lacking: [Domain] = []
            for domain in domains {
                try select.bind(domain.name, at: 1)
                try select.bind(domain.layer.hostColumn, at: 2)
                if try !select.step() { lacking.append(domain) }
                select.reset()
            }
            return lacking
        } catch {
            throw .storeFailure(path, error, .cannotRead)
        }
    }

    /// Rows in the order in which they are given.
    ///
    /// CROSS prevents another order of the tables, for which SQLite would have to sort. A value
    /// that is longer than any change was not written by this program, and is not loaded.
    private static let rows = """
        SELECT domains.id, name, host, key, generation, checksum, length(archive),
            iif(length(archive) <= \(PendingOverlay.maximumBytes), archive, NULL)
        FROM domains CROSS JOIN entries ON entries.domain = domains.id
        WHERE archive IS NOT NULL AND NOT \(DroppedDomains.mark) ORDER BY name, host, key
        """

    private static let anyValue = """
        SELECT 1 FROM domains WHERE name = ?1 AND host = ?2 AND EXISTS
            (SELECT 1 FROM entries WHERE domain = domains.id AND archive IS NOT NULL)
        """

    /// Reads rows of one domain.
    ///
    /// - Returns: Nil if this program cannot have written the domain, or if it is made of files.
    private func readPart() throws(SQLiteError) -> BackupPart? {
        let row = rows.integer(at: 0)
        let domain = rows.text(at: 1).flatMap { name in
            rows.text(at: 2).flatMap { Domain(name: name, hostColumn: $0) }
        }
        // Domains that are made of files follow the current files.
        var part = domain.flatMap { $0.layer.isWritable ? BackupPart(of: $0) : nil }
        var (count, bytes) = (0, 0)
        var isSame = true
        while isSame && count < BackupReader.rowsAtOnce && bytes < BackupReader.bytesAtOnce {
            bytes += Int(clamping: rows.integer(at: 6))
            count += 1
            part?.take(row: rows)
            let isThere = try rows.step()
            hasRow = isThere
            isSame = isThere && rows.integer(at: 0) == row
        }
        part?.isLast = !isSame
        return part
    }
}
