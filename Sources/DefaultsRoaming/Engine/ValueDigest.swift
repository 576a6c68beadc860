import KeyedArchive

/// A short name of a value: 32 bytes, equal for two archives that are the same graph of objects, even if
/// their bytes differ.
package struct ValueDigest: Sendable, Hashable {
    /// The 32 bytes.
    package let bytes: [UInt8]
}
