public import DefaultsModel

/// The value of a key.
public struct StoredValue: Sendable, Equatable {
    /// The bytes of its keyed archive.
    public let archive: [UInt8]
    /// Its last change.
    public let generation: Generation
}
