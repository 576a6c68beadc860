/// The secret that all machines of a user share, from which all other keys are derived.
package struct MasterKey: Sendable, Equatable {
    /// 32 random bytes.
    let bytes: [UInt8]

    /// A new key, which nobody else has.
    package static func random() -> MasterKey {
        MasterKey(unchecked: Sodium.randomBytes(Sodium.keySize))
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The key that some bytes are; nil for another number of bytes than 32.
    init?(bytes: [UInt8]) {
        guard bytes.count == Sodium.keySize else { return nil }
        self.bytes = bytes
    }

    /// What a derived key is for.
    ///
    /// A number is never used for anything else.
    enum Use: UInt64 {
        case names = 1
        case nonces, contents, wrapping, identity
    }

    /// The derived key for a use.
    func key(for use: Use) -> [UInt8] {
        Sodium.key(use.rawValue, of: "roamseal", from: bytes)
    }

    /// How many bytes ``identity`` has.
    static let identitySize = 16

    /// Tells this key from others without telling the key.
    var identity: [UInt8] { Array(key(for: .identity).prefix(Self.identitySize)) }

    package static func == (left: MasterKey, right: MasterKey) -> Bool {
        Sodium.areEqual(left.bytes, right.bytes)
    }
}

extension MasterKey: CustomStringConvertible, CustomReflectable {
    /// Never the key.
    package var description: String { "a key" }
    /// Without the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
