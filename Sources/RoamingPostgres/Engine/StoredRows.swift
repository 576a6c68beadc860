internal import DefaultsRoaming
internal import Postgres

/// The account of the user, with how the server is set up.
struct AccountRow: Sendable {
    let revision: UInt64
    let purged: UInt64
    /// The last revision at which a machine was here whose row was dropped; nil if there was none.
    let dropped: UInt64?
    /// 16 random bytes, after which the channel of news is named: others can then not guess it.
    let channel: [UInt8]
    /// How often to look for news; nil if the server announces them.
    let pollInterval: Duration?
    let isReadOnly: Bool
    let now: Int64
    let hasLosers: Bool

    /// The most seconds that the tables of a server allow.
    private static let longestPoll: Int64 = 86_400

    /// The columns of ``Statements/meeting(of:)``, of which the first and the last are the account's.
    init(_ rows: Rows) throws {
        revision = try rows.revision(0, 0)
        purged = try rows.revision(0, 1)
        dropped = rows.isNull(0, 17) ? nil : try rows.revision(0, 17)
        guard let channel = rows.bytes(0, 2), channel.count == 16 else {
            throw EngineError.damaged("the account has no channel")
        }
        self.channel = channel
        let seconds = try rows.integer(0, 3) ?? 0
        pollInterval = seconds > 0 ? .seconds(min(seconds, Self.longestPoll)) : nil
        isReadOnly = try rows.boolean(0, 4)
        now = try rows.time(0, 5) ?? 0
        hasLosers = try rows.boolean(0, 6)
    }

    /// The channel on which pushes are announced.
    var channelName: String { Statements.channelName(channel) }
}

/// What the server has stored about a replica.
struct StoredReplica {
    let name: String
    let seen: Int64?
    let visits: ReplicaRow

    /// The columns of ``Statements/meeting(of:)`` between the account's; nil if there is no row.
    init?(_ rows: Rows) throws {
        if rows.isNull(0, 7) { return nil }
        name = try rows.text(0, 7)
        seen = try rows.time(0, 8)
        guard let visit = Visit(bytes: rows.bytes(0, 13) ?? []) else {
            throw EngineError.damaged("it remembers no visit of this replica")
        }
        visits = ReplicaRow(
            push: try rows.revision(0, 9), pushNonce: rows.bytes(0, 10),
            pulled: try rows.revision(0, 11), isForgotten: try rows.boolean(0, 12), visit: visit,
            visitRevision: try rows.revision(0, 14),
            visitBefore: rows.bytes(0, 15).flatMap(Visit.init(bytes:)),
            isRewound: try rows.boolean(0, 16))
    }
}

/// The account, while a push has locked it.
struct LockedAccount {
    /// The revision of the push.
    let revision: UInt64
    let now: Int64
    let room: Room
    let channel: [UInt8]
    let isAnnounced: Bool

    /// The columns of the statement that locks it.
    init(_ rows: Rows) throws {
        guard rows.count == 1 else { throw EngineError.noAccount }
        revision = try rows.revision(0, 0)
        guard revision > 0 else { throw EngineError.damaged("a push has the revision 0") }
        now = try rows.time(0, 1) ?? 0
        room = Room(
            bytes: try rows.counted(0, 2), keys: try rows.counted(0, 3),
            largestBytes: try rows.integer(0, 4) ?? 0, largestKeys: try rows.integer(0, 5) ?? 0,
            largestValue: try rows.integer(0, 6) ?? 0)
        channel = rows.bytes(0, 7) ?? []
        isAnnounced = try rows.integer(0, 8) == 0
    }
}

extension Rows {
    /// A revision, or another number that is never negative.
    func revision(_ row: Int, _ column: Int) throws -> UInt64 {
        guard let number = try integer(row, column), number >= 0 else {
            throw EngineError.damaged("it has sent a negative number")
        }
        return UInt64(number)
    }

    /// A count, which leaves room for adding to it.
    func counted(_ row: Int, _ column: Int) throws -> Int64 {
        let number = try integer(row, column) ?? 0
        guard 0...(1 << 60) ~= number else {
            throw EngineError.damaged("it counts \(number) bytes or keys")
        }
        return number
    }

    /// A time in microseconds since 1970; nil if nobody knows it, or it is infinite.
    func knownTime(_ row: Int, _ column: Int) throws -> Int64? {
        try time(row, column).flatMap { $0.magnitude < 1 << 62 ? $0 : nil }
    }

    /// The name of a replica.
    func replica(_ row: Int, _ column: Int) throws -> ReplicaID {
        guard let replica = ReplicaID(bytes: bytes(row, column) ?? []) else {
            throw EngineError.damaged("a replica has no name")
        }
        return replica
    }

    /// A version: domain, key, revision, time, replica and archive.
    func version(_ row: Int) throws -> Version {
        let revision = try revision(row, 2)
        guard revision > 0 else { throw EngineError.damaged("a version has the revision 0") }
        return Version(
            key: RoamingKey(domain: try text(row, 0), name: try text(row, 1)),
            archive: bytes(row, 5), time: EditTime(try knownTime(row, 3)),
            replica: try replica(row, 4), mark: VersionMark(revision: revision))
    }

    /// A loser: domain, key, name, time, replica and archive.
    func loser(_ row: Int) throws -> Loser {
        let name = try text(row, 2)
        guard Self.isPlain(name) else { throw EngineError.damaged("a loser has a strange name") }
        return Loser(
            name: name, key: RoamingKey(domain: try text(row, 0), name: try text(row, 1)),
            archive: bytes(row, 5), time: EditTime(try knownTime(row, 3)),
            replica: try replica(row, 4))
    }

    /// Whether a name has only what ``Loser/name`` may have.
    private static func isPlain(_ name: String) -> Bool {
        1...64 ~= name.utf8.count
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
