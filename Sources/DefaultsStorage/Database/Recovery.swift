internal import DefaultsModel

/// What a start has made of the store and of the journals that it found.
///
/// The journal and the page that it goes on with both derive from this.
struct Recovery {
    /// The store as it was found.
    let store: StoreState
    /// What every caller sees from now on.
    var contents: DatabaseContents
    var counter: GenerationCounter
    /// The segments that were found, but for those that are left to a later start.
    var segments: [SealedSegment]
    /// Whether numbers may have been given that nothing tells of, so that the counter has jumped.
    let hasJumped: Bool
    /// Whether the ceiling was reached, and what was pending may be in the store by now.
    var isRaised = false
    /// Whether changes came to light late; they have numbers now that no segment has them under.
    var isLate = false

    /// Whether a journal in a directory needs all that is pending written anew, because the
    /// segments that were found do not stand for it there.
    func needsRewriting(in directory: PrivateDirectory) -> Bool {
        isLate || segments.contains { $0.directory != directory.path }
    }

    /// All changes that an earlier page may lack; nil where there may be others.
    var replayed: [ChangeSet]? {
        hasJumped || isRaised || isLate ? nil : contents.overlay.changeSets
    }
}
