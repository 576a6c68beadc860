package import KeyedArchive
import RoamingTerms

/// The master key as it lies at the place: encrypted with a key that is made of a passphrase.
///
/// It is a value of ``RoamTerms/keyDomain``, so it roams as every other value does.
package struct WrappedKey: Sendable, Equatable, Codable {
    /// How often Argon2id goes over its memory.
    private let operations: UInt64
    /// How much memory Argon2id takes, in bytes.
    private let memory: UInt64
    private let salt: String
    private let sealed: String
    /// Computed with the master key, so that a machine which has it knows its own wrapped keys.
    private let proof: String

    /// Wraps a key.
    ///
    /// - Throws: ``RoamError`` if there is not enough memory.
    package init(_ key: MasterKey, passphrase: String) throws {
        // More memory would not fit in what the service may have.
        try self.init(key, passphrase: passphrase, operations: 6, memory: 64 << 20)
    }

    init(_ key: MasterKey, passphrase: String, operations: UInt64, memory: UInt64) throws {
        let salt = Sodium.randomBytes(Sodium.saltSize)
        self.operations = operations
        self.memory = memory
        self.salt = Sodium.text(of: salt)
        guard
            let wrapping = Sodium.key(
                fromPassphrase: passphrase, salt: salt, operations: operations, memory: Int(memory))
        else { throw RoamError.noMemory }
        let nonce = Sodium.randomBytes(Sodium.nonceSize)
        let box = Sodium.encrypt(key.bytes, about: [], nonce: nonce, key: wrapping)
        sealed = Sodium.text(of: nonce + box)
        proof = Self.proof(with: key, [operations, memory], [self.salt, sealed])
    }

    private static func proof(with key: MasterKey, _ numbers: [UInt64], _ texts: [String]) -> String
    {
        let words = numbers.map { String($0) } + texts
        return Sodium.text(
            of: Sodium.hash(Array(words.joined(separator: " ").utf8), key: key.key(for: .wrapping)))
    }

    /// Whether this is a key, wrapped by someone who has it.
    func wraps(_ key: MasterKey) -> Bool {
        let proof = Self.proof(with: key, [operations, memory], [salt, sealed])
        return Sodium.areEqual(Array(proof.utf8), Array(self.proof.utf8))
    }

    /// What an attacker could want of this machine is limited.
    private static let mostMemory: UInt64 = 256 << 20
    private static let mostOperations: UInt64 = 64

    /// Takes the key out.
    ///
    /// - Throws: ``RoamError`` if the passphrase is wrong, or this is no wrapped key.
    package func key(passphrase: String) throws -> MasterKey {
        guard 1...Self.mostOperations ~= operations, 8192...Self.mostMemory ~= memory,
            let salt = Sodium.bytes(of: salt), salt.count == Sodium.saltSize,
            let sealed = Sodium.bytes(of: sealed), sealed.count > Sodium.nonceSize
        else { throw RoamError.damagedKey }
        guard
            let wrapping = Sodium.key(
                fromPassphrase: passphrase, salt: salt, operations: operations, memory: Int(memory))
        else { throw RoamError.noMemory }
        let bytes = Sodium.decrypt(
            Array(sealed.dropFirst(Sodium.nonceSize)), about: [],
            nonce: Array(sealed.prefix(Sodium.nonceSize)), key: wrapping)
        guard let key = bytes.flatMap(MasterKey.init), wraps(key) else {
            throw RoamError.wrongPassphrase
        }
        return key
    }
}

extension WrappedKey {
    /// The key that is wrapped under this name roams without being sealed.
    package static let key = RoamingKey(domain: RoamTerms.keyDomain, name: RoamTerms.wrappedKey)

    /// The wrapped key that an archive is; nil if it is none.
    init?(archive: [UInt8]) {
        guard let archive = try? KeyedArchive(validating: archive),
            let wrapped = try? KeyedArchiveDecoder().decode(WrappedKey.self, from: archive)
        else { return nil }
        self = wrapped
    }

    /// The value that roams.
    package func archive() throws -> KeyedArchive { try KeyedArchiveEncoder().encode(self) }
}

extension RoamError {
    static let wrongPassphrase = RoamError(
        "The passphrase is not the one of this place. It is the same on all of your machines.")
    static let damagedKey = RoamError(
        "The wrapped key at the place is damaged. Run 'defaultsctl roam passphrase' on a machine that "
            + "roams already.")
    static let noMemory = RoamError(
        "There is not enough free memory to make a key of the passphrase. Close some programs and "
            + "try again.")
}
