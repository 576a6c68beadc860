internal import KeyedArchive

/// A short name of a value: 32 bytes, equal for two archives that are the same graph of objects, even if
/// their bytes differ.
///
/// Nobody can make two values that share one, except by a break of BLAKE2b.
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

    /// What is hashed begins with this byte, so that no value has the digest of another kind.
    private enum Kind: UInt8 {
        case removed, graph, bytes
    }

    /// The largest archive whose graph is hashed; of a larger one, the bytes are.
    package static let largestGraph = 256 << 10

    /// The digest of an archive, which need not be a valid one; nil stands for a removed value.
    ///
    /// Bytes are hashed instead of a graph if ``KeyedArchive/isSame(as:)`` compares bytes.
    package init(of archive: [UInt8]?) {
        guard let archive else {
            self.init(.removed) { _ in }
            return
        }
        if archive.count <= Self.largestGraph, let graph = try? KeyedArchive(validating: archive) {
            var isComplete = false
            let digest = ValueDigest(.graph) { sink in
                isComplete = graph.writeCanonicalForm(to: sink)
            }
            if isComplete {
                self = digest
                return
            }
        }
        self.init(.bytes) { $0(archive) }
    }

    private init(_ kind: Kind, _ write: (([UInt8]) -> Void) -> Void) {
        let hash = Blake2b()
        hash.add([kind.rawValue])
        write(hash.add)
        bytes = hash.finish()
    }
}
