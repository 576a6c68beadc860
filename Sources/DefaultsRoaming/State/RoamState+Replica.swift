import RoamingTerms
import SQLite

/// What is known about the replica itself.
struct ReplicaRecord: Equatable {
    var id: ReplicaID
    /// The engine, as it was set up: another one is another meeting place.
    var engine: String
    /// What the engine called itself.
    var place: [UInt8]?
    /// Up to which revision the engine was read.
    var revision: UInt64 = 0
    /// The number of the last batch.
    var batch: UInt64 = 0
    /// Its nonce.
    var nonce: [UInt8]?
    /// Whether the engine has said what became of it.
    var isAnswered = true
    /// Whether the engine may have lost versions and has not been read from the beginning since.
    var isDoubtful = false
    /// Up to which revision such an engine has what was read from it before.
    var shared: UInt64 = 0

    /// One that has never met the engine.
    static func new(at engine: String) -> ReplicaRecord {
        ReplicaRecord(id: .random(), engine: engine)
    }
}

extension RoamState {
    /// What is known about the replica; nil if there is none yet.
    func replica() throws(SQLiteError) -> ReplicaRecord? {
        let select = try connection.prepare(
            """
            SELECT id, engine, place, revision, batch, nonce, isAnswered, isDoubtful, shared
            FROM replica
            """)
        guard try select.step(), let id = ReplicaID(bytes: select.blob(at: 0) ?? []) else {
            return nil
        }
        return ReplicaRecord(
            id: id, engine: select.text(at: 1) ?? "", place: select.blob(at: 2),
            revision: UInt64(bitPattern: select.integer(at: 3)),
            batch: UInt64(bitPattern: select.integer(at: 4)), nonce: select.blob(at: 5),
            isAnswered: select.integer(at: 6) != 0, isDoubtful: select.integer(at: 7) != 0,
            shared: UInt64(bitPattern: select.integer(at: 8)))
    }

    /// Begins as a replica that has never met the engine: nothing is known about any key.
    func joinAnew(_ replica: ReplicaRecord, _ choice: RoamChoice) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            for table in ["base", "edit", "arrival", "pushed", "domain", "candidate"] {
                try connection.execute("DELETE FROM \(table)")
            }
            try write(choice)
            try write(replica)
        }
    }

    /// The replica that is about to join an engine, which keeps its identifier until it has.
    func candidate(for engine: String) throws(SQLiteError) -> ReplicaRecord {
        let select = try connection.prepare("SELECT id FROM candidate WHERE engine = ?")
        try select.bind(engine, at: 1)
        var candidate = ReplicaRecord.new(at: engine)
        if try select.step(), let id = ReplicaID(bytes: select.blob(at: 0) ?? []) {
            candidate.id = id
            return candidate
        }
        let insert = try connection.prepare("INSERT OR REPLACE INTO candidate VALUES (?, ?)")
        try insert.bind(engine, at: 1)
        try insert.bind(candidate.id.bytes, at: 2)
        try insert.run()
        return candidate
    }

    /// Notes what the engine calls itself.
    func note(_ replica: ReplicaRecord) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in try write(replica) }
    }

    /// Reads the engine from the beginning, because it may know less than it did, and gives up the batch.
    func doubtBases(_ replica: ReplicaRecord) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            let doubt = try connection.prepare(
                "UPDATE base SET isDoubtful = 1 WHERE revision IS NULL OR revision > ?")
            try doubt.bind(Int64(bitPattern: replica.shared), at: 1)
            try doubt.run()
            try connection.execute("DELETE FROM arrival; DELETE FROM pushed")
            try write(replica)
        }
    }

    func write(_ replica: ReplicaRecord) throws(SQLiteError) {
        try connection.execute("DELETE FROM replica")
        let insert = try connection.prepare(
            "INSERT INTO replica VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        try insert.bind(replica.id.bytes, at: 1)
        try insert.bind(replica.engine, at: 2)
        try insert.bind(replica.place, at: 3)
        try insert.bind(Int64(bitPattern: replica.revision), at: 4)
        try insert.bind(Int64(bitPattern: replica.batch), at: 5)
        try insert.bind(replica.nonce, at: 6)
        try insert.bind(replica.isAnswered ? 1 : 0, at: 7)
        try insert.bind(replica.isDoubtful ? 1 : 0, at: 8)
        try insert.bind(Int64(bitPattern: replica.shared), at: 9)
        try insert.run()
    }
}
