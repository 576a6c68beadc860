package import DefaultsRoaming

/// Names a version: the replica that made it, and its number among all that this replica has made.
package struct Dot: Hashable, Sendable {
    /// The replica.
    package let replica: ReplicaID
    /// The number, from 1 on.
    package let counter: Int64

    /// The largest number that a file may have, so that counting on never overflows.
    package static let largestCounter: Int64 = 1 << 62

    package init(_ replica: ReplicaID, _ counter: Int64) {
        self.replica = replica
        self.counter = counter
    }
}

/// A version that a replica vouches for.
package struct Head: Equatable, Sendable {
    /// Which version.
    package let dot: Dot
    /// When the edit was made.
    package let time: EditTime
    /// The archive; nil if the key was removed.
    package let archive: [UInt8]?

    package init(_ dot: Dot, time: EditTime, archive: [UInt8]?) {
        self.dot = dot
        self.time = time
        self.archive = archive
    }

    /// The name that it has if it loses: short, and of letters, digits and `-`.
    ///
    /// Copies of a machine give the same dots to different values.
    package var loserName: String {
        let digest = ValueDigest(of: archive).bytes.prefix(2).hexadecimal
        return "\(dot.replica.description.prefix(8))-\(dot.counter)-\(digest)"
    }
}

extension Head: Comparable {
    /// The later edit is larger; of two edits of the same time, that of the larger replica is.
    ///
    /// The last comparison is needed only for a dot that two replicas have used, of which one is a copy
    /// of the other.
    package static func < (left: Head, right: Head) -> Bool {
        if left.time != right.time { return left.time < right.time }
        if left.dot.replica != right.dot.replica { return left.dot.replica < right.dot.replica }
        if left.dot.counter != right.dot.counter { return left.dot.counter < right.dot.counter }
        return (left.archive ?? []).lexicographicallyPrecedes(right.archive ?? [])
    }
}

/// For each replica, the number up to which its versions of a key are meant.
package struct VersionVector: Equatable, Sendable {
    /// The numbers; a replica that is not there has 0.
    package private(set) var counters: [ReplicaID: Int64] = [:]

    package init() {}

    /// Whether a version is meant.
    package func covers(_ dot: Dot) -> Bool {
        dot.counter <= counters[dot.replica, default: 0]
    }

    /// Means a version, too, and all earlier ones of its replica.
    package mutating func add(_ dot: Dot) {
        counters[dot.replica] = max(counters[dot.replica, default: 0], dot.counter)
    }

    /// The last version of each replica, in the order of the replicas.
    package var dots: [Dot] {
        counters.sorted { $0.key < $1.key }.map { Dot($0.key, $0.value) }
    }
}

/// The form in a `VersionMark`: for each replica its 16 bytes, and the number in 8 bytes.
extension VersionVector {
    private static let size = 24

    package var bytes: [UInt8] {
        dots.flatMap { dot in
            dot.replica.bytes + withUnsafeBytes(of: dot.counter.bigEndian) { Array($0) }
        }
    }

    /// Reads the form.
    ///
    /// What is not one means nothing: an edit with such a mark replaces nothing knowingly.
    package init(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.size) else { return }
        for start in stride(from: 0, to: bytes.count, by: Self.size) {
            guard let replica = ReplicaID(bytes: bytes[start..<start + 16]) else { return }
            let number = bytes[start + 16..<start + Self.size].reduce(UInt64(0)) {
                $0 << 8 | UInt64($1)
            }
            guard number <= UInt64(Dot.largestCounter) else { continue }
            add(Dot(replica, Int64(number)))
        }
    }
}
