/// Which of two versions of a key stands, if the writer of neither knew the other.
///
/// All engines ask this, so they decide alike: the later edit stands. Of two edits of the same time,
/// that of the larger replica does, except if both times are unknown: then the version that the others
/// have already stands, so that a machine which joins never overwrites.
package enum MergeRule {
    /// Whether an edit stands against the version that the engine has.
    package static func stands(
        _ edit: (time: EditTime, replica: ReplicaID),
        against version: (time: EditTime, replica: ReplicaID)
    ) -> Bool {
        if edit.time != version.time { return edit.time > version.time }
        return edit.time != .unknown && edit.replica > version.replica
    }
}
