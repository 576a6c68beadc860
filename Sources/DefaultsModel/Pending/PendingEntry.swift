/// What a key is to become on disk.
public struct PendingEntry: Sendable, Equatable {
    /// The archive; nil where the key was removed.
    public let archive: [UInt8]?
    /// The change that made it so.
    public let generation: Generation

    /// Pairs an archive, or a removal, with its generation.
    public init(archive: [UInt8]?, generation: Generation) {
        self.archive = archive
        self.generation = generation
    }
}
