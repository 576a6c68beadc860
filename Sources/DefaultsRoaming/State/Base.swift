/// What was last the same here and at the engine, for one key.
///
/// The value here is the base's, unless there is an ``EditedKey``.
struct Base: Sendable, Equatable {
    /// The engine's version.
    ///
    /// Nil if the engine has none that the value here is known to come from.
    var mark: VersionMark?
    /// The value; that of no value if the key was removed.
    var digest: ValueDigest
    /// The time of the version.
    var time: EditTime
    /// Whether the engine may have lost the version, or has lost it and did not get it again yet.
    var isDoubtful = false
}

/// A key whose value here is not the base's.
struct EditedKey: Sendable, Equatable {
    let key: RoamingKey
    /// When it was changed.
    var moment: EditMoment
    /// Whether the key was removed, as the daemon has on record.
    ///
    /// A value that is not there for another reason, such as a damaged file, is never pushed.
    var isRemoval = false
    /// Why it stays here for now; nil if it is to be pushed.
    var obstacle: String?

    /// An edit that pushes a base again, because the engine has lost it.
    static func asBase(_ base: Base, of key: RoamingKey) -> EditedKey {
        EditedKey(key: key, moment: .asBase, isRemoval: base.digest == .ofNothing)
    }
}

/// A version that the engine has given out, and that is not stored here yet.
struct Arrival: Sendable, Equatable {
    let version: Version
    /// Why it could not be stored; nil if that was not tried, or is to be tried again.
    var obstacle: String?
}
