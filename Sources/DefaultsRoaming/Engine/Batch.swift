/// The edits that a replica pushes at once.
///
/// A batch is made at most once, however often it is pushed: the engine knows it by its number and its
/// nonce. A number without a nonce would take the batch of a clone of this replica for this one.
package struct Batch: Sendable {
    /// One more than that of the replica's last batch; the first has 1.
    package let number: UInt64
    /// 16 random bytes.
    package let nonce: [UInt8]
    /// The edits, each of another key.
    package let edits: [Edit]

    package init(number: UInt64, nonce: [UInt8], edits: [Edit]) {
        self.number = number
        self.nonce = nonce
        self.edits = edits
    }
}

/// One change of a key that a replica made.
package struct Edit: Sendable {
    /// The key.
    package let key: RoamingKey
    /// The archive that it has now; nil if it was removed.
    package let archive: [UInt8]?
    /// How long ago the edit was made; nil if that is not known, because the value was there before its
    /// replica joined.
    ///
    /// An age and no time, because the clocks of machines differ.
    package let age: Duration?
    /// The version that the edit replaced knowingly; nil if its writer knew of none.
    package let base: VersionMark?
    /// The earliest time that it can have, if it has a known one.
    ///
    /// An edit is later than what it has replaced, also if a clock was set back in between.
    package let earliest: EditTime

    package init(
        key: RoamingKey, archive: [UInt8]?, age: Duration?, base: VersionMark?, earliest: EditTime
    ) {
        self.key = key
        self.archive = archive
        self.age = age
        self.base = base
        self.earliest = earliest
    }
}

extension Edit {
    /// The time of the edit by the engine's clock.
    ///
    /// - Parameter now: The engine's time, in microseconds since 1970.
    package func time(at now: Int64) -> EditTime {
        guard let age else { return .unknown }
        let earliest = if case .known(let time) = earliest { time } else { Int64.min }
        let (seconds, attoseconds) = age.components
        let microseconds = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
        let time = now.subtractingSaturated(Int64(min(max(microseconds, 0), 9e15)))
        // At most now: a base of the future, which only a wrong clock makes, would win for years.
        return .known(min(max(time, earliest), now))
    }
}

/// What became of an edit.
package struct Outcome: Sendable, Equatable {
    /// What the engine has for the key now.
    package enum Result: Sendable, Equatable {
        /// The edit, or another one of the same value.
        case stands
        /// A later edit of another replica, which comes with the next pull.
        case lost
    }

    /// The key.
    package let key: RoamingKey
    /// Whether the edit stands.
    package let result: Result
    /// The version that the engine has for the key now.
    package let mark: VersionMark
    /// Its time.
    package let time: EditTime

    package init(key: RoamingKey, result: Result, mark: VersionMark, time: EditTime) {
        self.key = key
        self.result = result
        self.mark = mark
        self.time = time
    }
}

/// A version that lost to a later one whose writer did not know it.
package struct Loser: Sendable, Equatable {
    /// A name that it has on all replicas: short, and of letters, digits, `-` and `.`.
    package let name: String
    /// What was lost.
    package let key: RoamingKey
    /// The archive; nil if the edit was a removal.
    package let archive: [UInt8]?
    /// When it was written.
    package let time: EditTime
    /// The replica that has written it.
    package let replica: ReplicaID

    package init(
        name: String, key: RoamingKey, archive: [UInt8]?, time: EditTime, replica: ReplicaID
    ) {
        self.name = name
        self.key = key
        self.archive = archive
        self.time = time
        self.replica = replica
    }
}

/// How many losers an engine tells at once, because a machine keeps them in one change.
package enum LoserLimit {
    /// The losers.
    package static let count = 200
    /// The bytes of their archives, unless it is only one loser.
    package static let bytes = 4 << 20

    /// How many of the first losers may be told at once.
    ///
    /// - Parameter sizes: The bytes of the archive of each.
    package static func fits(_ sizes: [Int]) -> Int {
        var bytes = 0
        let next = sizes.prefix(count).firstIndex { size in
            bytes += size
            return bytes > Self.bytes
        }
        return next.map { max($0, 1) } ?? min(sizes.count, count)
    }
}
