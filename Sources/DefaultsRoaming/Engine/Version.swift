/// What a replica has stored under a key, as all replicas know it.
package struct Version: Sendable, Equatable {
    /// The key.
    package let key: RoamingKey
    /// The archive, in bytes that nobody has validated; nil if the key was removed.
    package let archive: [UInt8]?
    /// When the edit was made.
    package let time: EditTime
    /// The replica on which the edit was made.
    package let replica: ReplicaID
    /// Where the engine has it.
    package let mark: VersionMark

    package init(
        key: RoamingKey, archive: [UInt8]?, time: EditTime, replica: ReplicaID, mark: VersionMark
    ) {
        self.key = key
        self.archive = archive
        self.time = time
        self.replica = replica
        self.mark = mark
    }
}

/// The time of an edit, in microseconds since 1970 by the clock of the engine.
///
/// A value that was there before its machine joined has no known time. It is earlier than all others.
package enum EditTime: Sendable, Hashable {
    case unknown
    case known(Int64)

    /// The first time after this one.
    var next: EditTime {
        if case .known(let time) = self { .known(time.addingSaturated(1)) } else { .unknown }
    }
}

extension EditTime: Comparable {
    package static func < (left: EditTime, right: EditTime) -> Bool {
        switch (left, right) {
        case (.unknown, .known): true
        case (.known(let left), .known(let right)): left < right
        case (_, .unknown): false
        }
    }
}

/// Which version an engine means.
package struct VersionMark: Sendable, Hashable {
    /// The place in the order in which the engine gives versions out: from 1 on, and one number for
    /// each pushed batch or joined file.
    package let revision: UInt64
    /// What the engine needs to know about the version, besides; other engines than the directory's
    /// need nothing.
    package let context: [UInt8]

    package init(revision: UInt64, context: [UInt8] = []) {
        self.revision = revision
        self.context = context
    }
}
