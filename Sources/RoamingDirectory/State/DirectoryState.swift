import DefaultsRoaming
import SQLite

// Invariants
//
//  1. A replica numbers its versions, and never gives a number twice. Its file has at most one version of
//     a key that it made itself. When it makes another one, the earlier was replaced knowingly, or is
//     among its losers.
//  2. A file of a replica takes the place of the earlier ones, by its sequence. An older file, a copy and
//     a duplicate change nothing but covers, and who was forgotten. So joining is commutative, associative
//     and idempotent: of each replica the latest file counts, and of each cover the largest.
//  3. A cover is true for ever: its versions were replaced by a writer who knew them, or are kept as lost
//     where they were made. `directory_cover` never shrinks.
//  4. The live versions of a key are those in the last files that no cover means, the latest of each
//     replica. The shown version is the largest of them. So the same files give the same shown versions.
//  5. A version leaves the file of its replica only (a) when that replica makes another one of the key,
//     (b) when it lost and is kept, or has the value of the shown version, or (c) as garbage: it is covered,
//     or older than another one of the same replica, or is the only version of its key and a removal. What
//     leaves by (b) is covered in the file, if others have it or an earlier one of the same replica.
//  6. Garbage is dropped only after each known replica has joined all files that this one had joined when
//     the garbage was found, and this one's own file. So each of them knows why it is garbage. A cover
//     is garbage when no file has its versions any more.
//  7. A key is never taken for removed because no file has it. Its shown version becomes an orphan, and
//     stays. It counts as removed once the state is closed: for each file, all files are joined that its
//     writer had joined. For the writer dropped the version after it had joined what replaced it (6), and
//     that is in the state as well, up to a version that is live, or to a removal that all knew.
//  8. So a removed key does not come back: an older file of a replica does not count (2), a replica that
//     was away meets the removal, or finds the key an orphan in a closed state (7), and its edits lose to
//     the removal as long as anybody who was there remembers it. A replica that nobody has heard of for 180
//     days is not waited for: it is forgotten, and joins anew.
//  9. A forgotten replica's versions are taken over by everyone who knows one that no other file has, so
//     several files may have one. From then on the replica's files do not count, and their covers do not
//     either: what replaced the covered versions may be in these files only. Who was forgotten is true for
//     ever, in whatever file it is said. A replica that was forgotten forgets its own name, too. It takes
//     along what it had taken over. Its own versions are values of its machine, which pushes them again.
// 10. A version is told as lost by the replica that vouches for it, until it is kept there. An edit that
//     loses when it is pushed never gets into a file.
// 11. If a machine was copied, two files of one name may exist, and others read only the later one. So a
//     replica that has joined again vouches for its values even if a file of its former name has the same,
//     until that name is forgotten and another file has its version.
// 12. Each function that changes something is one transaction, and is on the disk before the file is
//     written. The file says what the tables say: if it does not have the last stamp, it is written again.

/// What this replica knows of all files that it has ever seen.
///
/// It is used on one thread.
final class DirectoryState {
    /// After how many days without a sign of a replica nobody waits for it any more.
    static let longestAbsence: Int64 = 180
    /// The most bytes that this replica's file may need.
    static let largestFile = FileLimits.size * 3 / 4

    let connection: Connection
    /// This replica, which changes only inside of ``change(_:)``.
    var own: OwnReplica
    /// Whether the replica's file says something new because of the transaction under way.
    var hasNewContent = false
    /// The clock, if it was looked at, and as it is on the disk.
    var (clock, savedClock): (MeetingClock?, MeetingClock?)

    /// Opens the tables in a file, or makes them.
    init(path: String) throws {
        connection = try Connection(path: path, flags: [.readWrite, .create])
        try connection.pragma("busy_timeout", "10000")
        try connection.pragma("journal_mode", "WAL")
        // What the file says must not be unknown here after a power cut: its stamp would be another's.
        try connection.pragma("synchronous", "FULL")
        try connection.execute(Tables.schema)
        own = try OwnReplica.read(from: connection) ?? OwnReplica()
        guard own.version <= Tables.version else {
            throw EngineError(
                .refused,
                "'\(path)' is of a later version of defaultsd-roam. Install that version.")
        }
    }

    /// Runs a transaction that may change this replica's row.
    ///
    /// If the file has something new to say, it gets its next number.
    func change<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        let before = own
        hasNewContent = false
        do throws(SQLiteError) {
            return try connection.transaction { () throws(SQLiteError) in
                let result = try body()
                if hasNewContent { try beginFile(isNew: true) }
                if own != before { try own.write(to: connection) }
                return result
            }
        } catch {
            own = before
            throw error
        }
    }

    /// Gives the file of this replica its next number, inside of ``change(_:)``.
    ///
    /// - Parameter isNew: Whether it says something new about keys or forgotten replicas.
    func beginFile(isNew: Bool) throws(SQLiteError) {
        own.sequence += 1
        own.stamp = ReplicaID.random().bytes
        if isNew { own.content += 1 }
        try connection.run(
            "DELETE FROM directory_joined WHERE replica = ?", [own.replica.value])
        try connection.run(
            """
            INSERT INTO directory_joined SELECT ?, replica, content FROM directory_snapshot
            """, [own.replica.value])
    }

    /// Begins as a replica.
    ///
    /// If another one was here, all that it knew is dropped but what it lost, whom it had forgotten, and the
    /// names that this machine has had. If it was forgotten itself, what it had taken over is taken over
    /// from it: perhaps nobody else has it. Its own versions are not, as they are values of this machine, or
    /// are lost.
    func begin(as replica: ReplicaID, named name: String) throws(SQLiteError) {
        // Three bytes for each, as half a character at the end is replaced by one of three bytes.
        let bytes = name.utf8.filter { !FileText.isControl($0) }.prefix(FileLimits.name / 3)
        let name = String(decoding: bytes, as: UTF8.self)
        guard own.replica != replica || own.name != name else { return }
        try change { () throws(SQLiteError) in
            if own.replica != replica {
                let heads = try isForgotten(own.replica) ? takenOver() : []
                for table in Tables.ofReplica { try connection.run("DELETE FROM \(table)") }
                if own.replica != .none {
                    try connection.run(
                        "INSERT OR IGNORE INTO directory_former VALUES (?)", [own.replica.value])
                }
                // The revision goes on: a reader must not take an early one for a late one.
                own = OwnReplica(replica, revision: own.revision + 1)
                for (key, head) in heads { try insert(head, of: key, voucher: own.replica) }
                for (key, _) in heads { try settle(key) }
            }
            own.name = name
            try beginFile(isNew: false)
        }
    }
}

/// The row of this replica.
struct OwnReplica: Equatable {
    var version = Tables.version
    var replica = ReplicaID.none
    var name = ""
    /// The number of the last version that it made.
    var counter: Int64 = 0
    var sequence: Int64 = 0
    var stamp: [UInt8] = []
    var content: Int64 = 0
    /// The last revision that a shown version has.
    var revision: Int64 = 0
    /// The last batch; 0 if there was none.
    var batch: Int64 = 0
    var nonce: [UInt8] = []
    /// The day of the last maintenance, since 1970.
    var day: Int64 = 0

    init() {}

    init(_ replica: ReplicaID, revision: Int64) {
        self.replica = replica
        self.revision = revision
    }

    static func read(from connection: Connection) throws(SQLiteError) -> OwnReplica? {
        try connection.rows(
            """
            SELECT version, replica, name, counter, sequence, stamp, content, revision, batch, nonce, day
            FROM directory_self
            """
        ) { row in
            var own = OwnReplica()
            own.version = row.integer(at: 0)
            own.replica = row.replica(at: 1)
            own.name = row.text(at: 2) ?? ""
            own.counter = row.integer(at: 3)
            own.sequence = row.integer(at: 4)
            own.stamp = FileText.bytes(Substring(row.text(at: 5) ?? ""), count: 16) ?? []
            own.content = row.integer(at: 6)
            own.revision = row.integer(at: 7)
            own.batch = row.integer(at: 8)
            own.nonce = FileText.bytes(Substring(row.text(at: 9) ?? ""), count: 16) ?? []
            own.day = row.integer(at: 10)
            return own
        }.first
    }

    func write(to connection: Connection) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO directory_self
            (one, version, replica, name, counter, sequence, stamp, content, revision, batch, nonce, day)
            VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(version), replica.value, .text(name), .integer(counter),
                .integer(sequence), .text(FileText.hexadecimal(stamp)), .integer(content),
                .integer(revision), .integer(batch), .text(FileText.hexadecimal(nonce)),
                .integer(day),
            ])
    }
}
