import DefaultsRoaming
import SQLite

extension DirectoryState {
    /// The shown versions after a revision, with what is to be kept.
    func page(after revision: UInt64, limit: Int) throws(SQLiteError) -> Page {
        let after = Int64(min(revision, UInt64(Dot.largestCounter)))
        // The revision of the last version that the limit allows.
        let last = try connection.rows(
            """
            SELECT revision FROM directory_shown WHERE revision > ? ORDER BY revision
            LIMIT 1 OFFSET ?
            """, [.integer(after), .integer(Int64(max(limit, 1) - 1))]
        ) { $0.integer(at: 0) }.first
        let end = last ?? own.revision
        let rows = try connection.rows(
            """
            SELECT domain, key, replica, counter, time, archive FROM directory_shown
            WHERE revision > ? AND revision <= ? ORDER BY revision, domain, key
            """, [.integer(after), .integer(end)]
        ) { ($0.key(at: 0), $0.head(at: 2)) }
        var versions: [Version] = []
        for (key, head) in rows {
            versions.append(
                Version(
                    key: key, archive: head.archive, time: head.time, replica: head.dot.replica,
                    mark: try mark(of: key)))
        }
        let losers = try losers()
        return Page(
            versions: versions, losers: losers.first, revision: UInt64(max(end, after)),
            hasMore: end < own.revision || losers.hasMore)
    }

    /// The file that this replica has to have.
    func file(now: Int64) throws(SQLiteError) -> ReplicaFile {
        let joined = try connection.rows(
            "SELECT other, content FROM directory_joined WHERE replica = ?", [own.replica.value]
        ) { ($0.replica(at: 0), $0.integer(at: 1)) }
        return ReplicaFile(
            replica: own.replica, sequence: own.sequence, stamp: own.stamp, content: own.content,
            written: max(now, 0), name: own.name,
            batch: own.batch > 0 ? (own.batch, own.nonce) : nil,
            joined: Dictionary(joined) { $1 }, forgotten: try forgotten(), entries: try entries())
    }

    private func entries() throws(SQLiteError) -> [ReplicaFile.Entry] {
        var entries: [RoamingKey: ReplicaFile.Entry] = [:]
        let heads = try connection.rows(
            """
            SELECT domain, key, replica, counter, time, archive FROM directory_head
            WHERE voucher = ?
            """, [own.replica.value]
        ) { ($0.key(at: 0), $0.head(at: 2)) }
        for (key, head) in heads {
            entries[key, default: ReplicaFile.Entry(key)].heads.append(head)
        }
        let covers = try connection.rows(
            "SELECT domain, key, replica, counter FROM directory_cover WHERE published = 1"
        ) { ($0.key(at: 0), Dot($0.replica(at: 2), $0.integer(at: 3))) }
        for (key, dot) in covers {
            entries[key, default: ReplicaFile.Entry(key)].covers.add(dot)
        }
        return entries.values.sorted { $0.key < $1.key }
    }
}
