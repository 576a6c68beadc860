import SQLite

/// Bases and edits.
extension RoamState {
    /// The base of a key; nil if there is none.
    func base(of key: RoamingKey) throws(SQLiteError) -> Base? {
        let select = try connection.prepare(
            """
            SELECT revision, context, digest, time, isDoubtful FROM base
            WHERE domain = ? AND key = ?
            """)
        try select.bind(key)
        return try select.step() ? select.base(from: 0) : nil
    }

    /// The bases of a domain, by key.
    func bases(in domain: String) throws(SQLiteError) -> [RoamingKey: Base] {
        let select = try connection.prepare(
            "SELECT revision, context, digest, time, isDoubtful, key FROM base WHERE domain = ?")
        try select.bind(domain, at: 1)
        var bases: [RoamingKey: Base] = [:]
        while try select.step() {
            let key = RoamingKey(domain: domain, name: select.text(at: 5) ?? "")
            if let base = select.base(from: 0) { bases[key] = base }
        }
        return bases
    }

    /// The keys whose version the engine may have lost.
    func doubtfulBases() throws(SQLiteError) -> [(RoamingKey, Base)] {
        let select = try connection.prepare(
            """
            SELECT revision, context, digest, time, isDoubtful, domain, key FROM base
            WHERE isDoubtful
            """)
        var bases: [(RoamingKey, Base)] = []
        while try select.step() {
            if let base = select.base(from: 0) { bases.append((select.key(from: 5), base)) }
        }
        return bases
    }

    func write(_ base: Base, of key: RoamingKey) throws(SQLiteError) {
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO base VALUES (?, ?, ?, ?, ?, ?, ?)")
        try insert.bind(key)
        try insert.bind((base.mark?.revision).map(Int64.init(bitPattern:)), at: 3)
        try insert.bind(base.mark?.context, at: 4)
        try insert.bind(base.digest.bytes, at: 5)
        try insert.bind(base.time.microseconds, at: 6)
        try insert.bind(base.isDoubtful ? 1 : 0, at: 7)
        try insert.run()
    }

    func removeBase(of key: RoamingKey) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM base WHERE domain = ? AND key = ?")
        try delete.bind(key)
        try delete.run()
    }

    /// The edit of a key; nil if the value here is the base's.
    func edit(of key: RoamingKey) throws(SQLiteError) -> EditedKey? {
        let select = try connection.prepare(Self.edits + " WHERE domain = ? AND key = ?")
        try select.bind(key)
        return try select.step() ? select.edit() : nil
    }

    /// All edits, in the order of their keys.
    func edits() throws(SQLiteError) -> [EditedKey] {
        let select = try connection.prepare(Self.edits + " ORDER BY domain, key")
        var edits: [EditedKey] = []
        while try select.step() { edits.append(select.edit()) }
        return edits
    }

    private static var edits: String {
        "SELECT domain, key, kind, boot, sinceBoot, wall, isRemoval, obstacle FROM edit"
    }

    func write(_ edit: EditedKey) throws(SQLiteError) {
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO edit VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        try insert.bind(edit.key)
        try insert.bind(edit.moment.kind, at: 3)
        switch edit.moment {
        case .at(let moment):
            try insert.bind(moment.boot, at: 4)
            try insert.bind(moment.sinceBoot, at: 5)
            try insert.bind(moment.wall, at: 6)
        case .noted(let wall):
            try insert.bind(wall, at: 6)
        case .unknown, .asBase:
            break
        }
        try insert.bind(edit.isRemoval ? 1 : 0, at: 7)
        if let obstacle = edit.obstacle { try insert.bind(obstacle, at: 8) }
        try insert.run()
    }

    func removeEdit(of key: RoamingKey) throws(SQLiteError) {
        let delete = try connection.prepare("DELETE FROM edit WHERE domain = ? AND key = ?")
        try delete.bind(key)
        try delete.run()
    }

    /// Notes why keys stay here for now.
    func note(obstacle: String?, of keys: some Sequence<RoamingKey>) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for key in keys {
                guard var edit = try edit(of: key) else { continue }
                edit.obstacle = obstacle
                try write(edit)
            }
        }
    }

    /// Up to which generation a domain was looked at, and up to which of these everything was on the disk
    /// of the daemon; nil if it was never looked at.
    func generations(
        of domain: String
    ) throws(SQLiteError) -> (looked: UInt64, durable: UInt64)? {
        let select = try connection.prepare(
            "SELECT generation, durable FROM domain WHERE domain = ?")
        try select.bind(domain, at: 1)
        guard try select.step() else { return nil }
        return (
            UInt64(bitPattern: select.integer(at: 0)), UInt64(bitPattern: select.integer(at: 1))
        )
    }

    /// Notes that all changes up to a generation are on the disk of the daemon.
    func noteDurable(upTo generation: UInt64) throws(SQLiteError) {
        let update = try connection.prepare(
            "UPDATE domain SET durable = min(generation, ?) WHERE durable < min(generation, ?1)")
        try update.bind(Int64(bitPattern: generation), at: 1)
        try update.run()
    }

    /// The domains that were looked at.
    func domains() throws(SQLiteError) -> Set<String> {
        let select = try connection.prepare("SELECT domain FROM domain")
        var domains: Set<String> = []
        while try select.step() { domains.insert(select.text(at: 0) ?? "") }
        return domains
    }

    func write(generation: UInt64, of domain: String) throws(SQLiteError) {
        let insert = try connection.prepare(
            """
            INSERT INTO domain VALUES (?, ?, 0, 0)
            ON CONFLICT (domain) DO UPDATE SET
                generation = excluded.generation, durable = min(durable, excluded.generation),
                hasNewKeys = 0
            """)
        try insert.bind(domain, at: 1)
        try insert.bind(Int64(bitPattern: generation), at: 2)
        try insert.run()
    }

    /// Whether keys of a domain have not roamed before, so that all of them must be scanned.
    func hasNewKeys(_ domain: String) throws(SQLiteError) -> Bool {
        let select = try connection.prepare("SELECT hasNewKeys FROM domain WHERE domain = ?")
        try select.bind(domain, at: 1)
        return try select.step() && select.integer(at: 0) != 0
    }
}

extension EditMoment {
    fileprivate var kind: Int64 {
        switch self {
        case .unknown: 0
        case .asBase: 1
        case .at: 2
        case .noted: 3
        }
    }
}

extension EditTime {
    /// The time in the tables; nil if it is unknown.
    package var microseconds: Int64? {
        if case .known(let time) = self { time } else { nil }
    }

    package init(_ microseconds: Int64?) {
        self = microseconds.map { .known($0) } ?? .unknown
    }
}

extension Statement {
    func bind(_ key: RoamingKey) throws(SQLiteError) {
        try bind(key.domain, at: 1)
        try bind(key.name, at: 2)
    }

    func key(from column: Int32) -> RoamingKey {
        RoamingKey(domain: text(at: column) ?? "", name: text(at: column + 1) ?? "")
    }

    func time(at column: Int32) -> EditTime {
        EditTime(isNull(at: column) ? nil : integer(at: column))
    }

    fileprivate func base(from column: Int32) -> Base? {
        guard let digest = ValueDigest(bytes: blob(at: column + 2) ?? []) else { return nil }
        let mark =
            isNull(at: column)
            ? nil
            : VersionMark(
                revision: UInt64(bitPattern: integer(at: column)),
                context: blob(at: column + 1) ?? [])
        return Base(
            mark: mark, digest: digest, time: time(at: column + 3),
            isDoubtful: integer(at: column + 4) != 0)
    }

    fileprivate func edit() -> EditedKey {
        let moment: EditMoment =
            switch integer(at: 2) {
            case 1: .asBase
            case 2:
                .at(
                    Moment(
                        boot: blob(at: 3) ?? [], sinceBoot: integer(at: 4), wall: integer(at: 5)))
            case 3: .noted(integer(at: 5))
            default: .unknown
            }
        return EditedKey(
            key: key(from: 0), moment: moment, isRemoval: integer(at: 6) != 0, obstacle: text(at: 7)
        )
    }
}
