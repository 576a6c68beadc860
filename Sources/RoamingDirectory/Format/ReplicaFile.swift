package import DefaultsRoaming

/// What a replica tells all others, in a file that only it writes.
///
/// A later file of a replica takes the place of an earlier one as a whole.
package struct ReplicaFile: Equatable, Sendable {
    /// A key with what the replica says about it.
    package struct Entry: Equatable, Sendable {
        /// The key.
        package let key: RoamingKey
        /// Versions of others that are replaced, or kept as lost.
        package var covers = VersionVector()
        /// Versions that the replica vouches for: its own, and those of forgotten replicas.
        package var heads: [Head] = []

        package init(_ key: RoamingKey) {
            self.key = key
        }
    }

    /// The replica.
    package let replica: ReplicaID
    /// Increases with each file.
    package let sequence: Int64
    /// 16 random bytes for each file, which show that two replicas use one name.
    package let stamp: [UInt8]
    /// Increases if what the file says about keys, or about forgotten replicas, has changed.
    package let content: Int64
    /// When it was written by the ``MeetingClock`` of the replica, in microseconds since 1970.
    package let written: Int64
    /// The name of the machine.
    package let name: String
    /// The last batch that was pushed.
    package let batch: (number: Int64, nonce: [UInt8])?
    /// For each other replica, the ``content`` up to which this one has joined its files.
    package let joined: [ReplicaID: Int64]
    /// The replicas that were forgotten.
    package let forgotten: Set<ReplicaID>
    /// What it says about keys, in their order.
    package let entries: [Entry]

    package init(
        replica: ReplicaID, sequence: Int64, stamp: [UInt8], content: Int64, written: Int64,
        name: String, batch: (number: Int64, nonce: [UInt8])?, joined: [ReplicaID: Int64],
        forgotten: Set<ReplicaID>, entries: [Entry]
    ) {
        self.replica = replica
        self.sequence = sequence
        self.stamp = stamp
        self.content = content
        self.written = written
        self.name = name
        self.batch = batch
        self.joined = joined
        self.forgotten = forgotten
        self.entries = entries
    }

    package static func == (left: ReplicaFile, right: ReplicaFile) -> Bool {
        left.bytes == right.bytes
    }

    /// Whether it takes the place of another file of the replica.
    ///
    /// Two different files have the same number only if two replicas use one name. All others choose the
    /// same of them.
    package func isLater(than other: (sequence: Int64, stamp: [UInt8])) -> Bool {
        if sequence != other.sequence { return sequence > other.sequence }
        return other.stamp.lexicographicallyPrecedes(stamp)
    }
}

/// What a file may have at most, so that no file can fill the memory.
package enum FileLimits {
    /// The bytes of a file.
    package static let size = 64 << 20
    /// The bytes of an archive.
    package static let archive = 1 << 20
    /// The bytes of a line: a version with its archive in base64, or a key with all bytes escaped.
    package static let line = archive / 3 * 4 + 4096
    /// The keys of a file.
    package static let keys = 1 << 17
    /// The replicas that a file names, and the files of a directory.
    package static let replicas = 1000
    /// The replicas that a file names anywhere, those that nobody knows any more as well.
    package static let names = 4 * replicas
    /// The bytes of a machine's name.
    package static let name = 255
}

/// Why a file cannot be used.
package enum FileFault: Error, Equatable, Sendable {
    /// It ends too early, or was changed: it may still be being copied.
    case incomplete
    /// It is of a later version.
    case laterVersion
    /// A line is not one that a replica writes.
    case wrong(line: Int)
}

extension FileFault: CustomStringConvertible {
    /// What is wrong, as the end of a sentence about the file.
    package var description: String {
        switch self {
        case .incomplete: "is incomplete or damaged"
        case .laterVersion: "is of a later version of defaultsd-roam"
        case .wrong(let line): "has an invalid line \(line)"
        }
    }
}
