internal import CSodium

/// What roaming uses of libsodium, with arrays of bytes.
///
/// The lengths of keys and nonces are those that libsodium wants: the callers make them.
enum Sodium {
    /// Prepares libsodium for all threads, once.
    static let isReady = sodium_init() >= 0

    static let keySize = 32
    static let nonceSize = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    static let tagSize = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
    static let saltSize = Int(crypto_pwhash_argon2id_SALTBYTES)

    static func randomBytes(_ count: Int) -> [UInt8] {
        _ = isReady
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    /// A key for one use, derived from another.
    ///
    /// - Parameter context: Eight ASCII characters.
    static func key(_ number: UInt64, of context: String, from key: [UInt8]) -> [UInt8] {
        _ = isReady
        var derived = [UInt8](repeating: 0, count: keySize)
        crypto_kdf_derive_from_key(&derived, keySize, number, context, key)
        return derived
    }

    /// A hash that only someone with the key can compute: BLAKE2b.
    static func hash(_ bytes: [UInt8], key: [UInt8], size: Int = keySize) -> [UInt8] {
        _ = isReady
        var hash = [UInt8](repeating: 0, count: size)
        crypto_generichash(&hash, size, bytes, UInt64(bytes.count), key, key.count)
        return hash
    }

    /// Encrypts with XChaCha20-Poly1305.
    static func encrypt(
        _ bytes: [UInt8], about context: [UInt8], nonce: [UInt8], key: [UInt8]
    ) -> [UInt8] {
        _ = isReady
        var encrypted = [UInt8](repeating: 0, count: bytes.count + tagSize)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &encrypted, nil, bytes, UInt64(bytes.count), context, UInt64(context.count), nil, nonce,
            key)
        return encrypted
    }

    /// Decrypts; nil if anything is not as it was encrypted.
    static func decrypt(
        _ bytes: [UInt8], about context: [UInt8], nonce: [UInt8], key: [UInt8]
    ) -> [UInt8]? {
        _ = isReady
        guard bytes.count >= tagSize else { return nil }
        var decrypted = [UInt8](repeating: 0, count: bytes.count - tagSize)
        let status = crypto_aead_xchacha20poly1305_ietf_decrypt(
            &decrypted, nil, nil, bytes, UInt64(bytes.count), context, UInt64(context.count), nonce,
            key)
        return status == 0 ? decrypted : nil
    }

    /// A key from a passphrase, by Argon2id; nil if there is not so much memory.
    static func key(
        fromPassphrase passphrase: String, salt: [UInt8], operations: UInt64, memory: Int
    ) -> [UInt8]? {
        _ = isReady
        var key = [UInt8](repeating: 0, count: keySize)
        let status = crypto_pwhash(
            &key, UInt64(keySize), passphrase, UInt64(passphrase.utf8.count), salt, operations,
            memory, crypto_pwhash_argon2id_alg_argon2id13())
        return status == 0 ? key : nil
    }

    /// Compares without telling by the time where the difference is.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }

    /// The bytes as letters, digits, `-` and `_`.
    static func text(of bytes: [UInt8]) -> String {
        let variant = Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
        sodium_bin2base64(&text, text.count, bytes, bytes.count, variant)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The bytes that a text stands for; nil if it stands for none.
    static func bytes(of text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: text.utf8.count)
        var count = 0
        let status = sodium_base642bin(
            &bytes, bytes.count, text, text.utf8.count, nil, &count, nil,
            Int32(sodium_base64_VARIANT_URLSAFE_NO_PADDING))
        return status == 0 ? Array(bytes.prefix(count)) : nil
    }
}
