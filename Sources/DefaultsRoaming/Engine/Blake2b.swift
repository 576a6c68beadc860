internal import CSodium

/// BLAKE2b with 32 bytes, as libsodium computes it.
package final class Blake2b {
    // libsodium chooses the code for this processor once.
    private static let isReady = sodium_init() >= 0

    private static let size = Int(crypto_generichash_BYTES)

    // Owned by this object. libsodium requires an address that is a multiple of 64.
    private let memory = UnsafeMutableRawPointer.allocate(
        byteCount: crypto_generichash_statebytes(), alignment: 64)

    private var state: OpaquePointer { OpaquePointer(memory) }

    /// Begins.
    package init() {
        _ = Self.isReady
        crypto_generichash_init(state, nil, 0, Self.size)
    }

    deinit {
        memory.deallocate()
    }

    /// Adds bytes.
    package func add(_ bytes: [UInt8]) { add(bytes[...]) }

    /// Adds a part of an array, which is not copied for it.
    package func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBufferPointer { buffer in
            // The pointer is used during the call only.
            _ = crypto_generichash_update(state, buffer.baseAddress, UInt64(buffer.count))
        }
    }

    /// The hash of all bytes; it is asked for once.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.size)
        crypto_generichash_final(state, &digest, Self.size)
        return digest
    }

    /// The hash of some bytes.
    package static func hash(of bytes: [UInt8]) -> [UInt8] { hash(of: bytes[...]) }

    /// The hash of a part of an array, which is not copied for it.
    package static func hash(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        let hash = Blake2b()
        hash.add(bytes)
        return hash.finish()
    }
}
