import KeyedArchive

/// A short name of a value: 32 bytes, equal for two archives that are the same graph of objects, even if
/// their bytes differ.
package struct ValueDigest: Sendable, Hashable {
    /// The 32 bytes.
    package let bytes: [UInt8]

    /// The digest of no value: the key was removed, or never set.
    package static let ofNothing = ValueDigest(of: nil)

    /// The digest that was stored; nil if it has not 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}
