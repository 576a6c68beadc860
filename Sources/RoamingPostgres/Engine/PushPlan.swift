internal import DefaultsRoaming

/// The bounds of an account, and what it has.
struct Room {
    let bytes: Int64
    let keys: Int64
    let largestBytes: Int64
    let largestKeys: Int64
    let largestValue: Int64

    /// What a row counts for, as the trigger in the schema counts it.
    static func size(of key: RoamingKey, _ archive: [UInt8]?) -> Int64 {
        Int64(key.domain.utf8.count + key.name.utf8.count + (archive?.count ?? 0) + 100)
    }
}

/// What becomes of a batch: decided under the lock of the account, from the versions that it has.
struct PushPlan {
    /// One for each edit.
    private(set) var outcomes: [Outcome] = []
    /// The edits that replace what the server has, with their times.
    private(set) var writes: [(edit: Edit, time: EditTime)] = []
    /// What lost.
    private(set) var losers: [Loser] = []
    /// The keys for which there is no room.
    private(set) var full: [RoamingKey] = []

    private let revision: UInt64
    private let now: Int64
    private let replica: ReplicaID
    private let loserName: String
    private let room: Room
    private var bytes: Int64
    private var keys: Int64

    /// Decides.
    ///
    /// - Parameters:
    ///   - batch: The batch.
    ///   - replica: Who pushes it.
    ///   - current: The versions of its keys.
    ///   - revision: The one that its edits get.
    ///   - now: The server's time.
    ///   - room: What the account may have.
    init(
        _ batch: Batch, of replica: ReplicaID, current: [RoamingKey: Version], revision: UInt64,
        now: Int64, room: Room
    ) {
        self.revision = revision
        self.now = now
        self.replica = replica
        self.room = room
        // Of the batch, and not of the replica that lost: a server that was put back gives revisions
        // again, but nobody gives a nonce again.
        loserName = "\(revision)-" + batch.nonce.prefix(4).hexadecimal
        (bytes, keys) = (room.bytes, room.keys)
        for edit in batch.edits { decide(edit, against: current[edit.key]) }
    }

    private mutating func decide(_ edit: Edit, against version: Version?) {
        let time = edit.time(at: now)
        guard let version else { return write(edit, time, over: nil, keeping: nil) }
        if ValueDigest(of: edit.archive) == ValueDigest(of: version.archive) {
            return note(edit, .stands, version.mark, version.time)
        }
        if edit.base == version.mark { return write(edit, time, over: version, keeping: nil) }
        if MergeRule.stands((time, replica), against: (version.time, version.replica)) {
            write(
                edit, time, over: version,
                keeping: loser(edit.key, version.archive, version.time, version.replica))
        } else if takeRoom(1, Room.size(of: edit.key, edit.archive), edit) {
            losers.append(loser(edit.key, edit.archive, time, replica))
            note(edit, .lost, version.mark, version.time)
        }
    }

    private mutating func write(
        _ edit: Edit, _ time: EditTime, over version: Version?, keeping loser: Loser?
    ) {
        let before = version.map { Room.size(of: $0.key, $0.archive) } ?? 0
        let lost = loser.map { Room.size(of: $0.key, $0.archive) } ?? 0
        let keys: Int64 = (version == nil ? 1 : 0) + (loser == nil ? 0 : 1)
        guard takeRoom(keys, Room.size(of: edit.key, edit.archive) - before + lost, edit) else {
            return
        }
        writes.append((edit, time))
        if let loser { losers.append(loser) }
        note(edit, .stands, VersionMark(revision: revision), time)
    }

    /// Counts what an edit needs, or notes that there is no room.
    ///
    /// There is always room for a removal: the account could never shrink otherwise. The server has
    /// some to spare for it.
    private mutating func takeRoom(_ newKeys: Int64, _ newBytes: Int64, _ edit: Edit) -> Bool {
        let isTooLarge = Int64(edit.archive?.count ?? 0) > room.largestValue
        let isFull =
            newBytes > 0 && bytes + newBytes > room.largestBytes
            || newKeys > 0 && keys + newKeys > room.largestKeys
        if edit.archive != nil, isTooLarge || isFull {
            full.append(edit.key)
            return false
        }
        bytes += newBytes
        keys += newKeys
        return true
    }

    private mutating func note(
        _ edit: Edit, _ result: Outcome.Result, _ mark: VersionMark, _ time: EditTime
    ) {
        outcomes.append(Outcome(key: edit.key, result: result, mark: mark, time: time))
    }

    private func loser(
        _ key: RoamingKey, _ archive: [UInt8]?, _ time: EditTime, _ replica: ReplicaID
    ) -> Loser {
        Loser(name: loserName, key: key, archive: archive, time: time, replica: replica)
    }
}

/// The outcomes of a replica's last batch in the form in which the server keeps them: for each edit one
/// byte for the result, eight for the revision and eight for the time.
enum StoredOutcomes {
    private static let size = 17
    /// The most edits whose outcomes the server takes.
    static let most = 3000

    static func bytes(of outcomes: [Outcome]) -> [UInt8] {
        outcomes.flatMap { outcome in
            let time = outcome.time.microseconds ?? .min
            return [outcome.result == .stands ? 1 : 0]
                + outcome.mark.revision.bigEndianBytes
                + UInt64(bitPattern: time).bigEndianBytes
        }
    }

    /// The outcomes of a batch that was made before; nil if the bytes are not those of this batch.
    ///
    /// All machines of the user may write these bytes. No version has the revision 0, or one that the
    /// server cannot count.
    static func outcomes(_ bytes: [UInt8], of batch: Batch) -> [Outcome]? {
        guard bytes.count == batch.edits.count * size else { return nil }
        var outcomes: [Outcome] = []
        for (index, edit) in batch.edits.enumerated() {
            let part = bytes[(index * size)..<((index + 1) * size)]
            let numbers = part.dropFirst()
            let revision = UInt64(bigEndianBytes: numbers.prefix(8))
            guard 1...UInt64(Int64.max) ~= revision else { return nil }
            let time = Int64(bitPattern: UInt64(bigEndianBytes: numbers.suffix(8)))
            outcomes.append(
                Outcome(
                    key: edit.key, result: part.first == 1 ? .stands : .lost,
                    mark: VersionMark(revision: revision),
                    time: EditTime(time == .min ? nil : time)))
        }
        return outcomes
    }
}
