internal import RoamingTerms

// Invariants
//
// 1. Equal values of a key are sealed to equal bytes, so that an engine can compare them.
// 2. Two different values never share a nonce: the nonce is a keyed hash of everything that is sealed.
// 3. What is opened was sealed under the same name with the same key. Otherwise it is refused as a whole.

/// Seals what leaves this machine, and opens what others have sealed.
///
/// A sealed value is a nonce, and after it the encrypted kind, domain, key and archive, filled with zeros
/// to a length that many values have. A removal is sealed as values are: nobody else can remove anything.
struct Seal: Sendable {
    /// Tells the key of this seal from others.
    let identity: [UInt8]
    private let names: [UInt8]
    private let nonces: [UInt8]
    private let contents: [UInt8]

    init(_ key: MasterKey) {
        identity = key.identity
        names = key.key(for: .names)
        nonces = key.key(for: .nonces)
        contents = key.key(for: .contents)
    }

    private enum Kind: UInt8 {
        case value, removal, machine
    }

    /// The domain of all sealed keys.
    static let domain = RoamTerms.sealed

    /// The name under which a key is sealed.
    func name(of key: RoamingKey) -> String {
        // No domain has a zero byte, so no two keys are the same text.
        Sodium.text(of: Sodium.hash(Array(key.domain.utf8) + [0] + key.name.utf8, key: names))
    }

    // MARK: Values

    /// Seals an archive; nil stands for a removed value.
    func seal(_ archive: [UInt8]?, of key: RoamingKey) -> [UInt8] {
        var bytes = [(archive == nil ? Kind.removal : .value).rawValue]
        for part in [Array(key.domain.utf8), Array(key.name.utf8), archive ?? []] {
            bytes += withUnsafeBytes(of: UInt32(part.count).littleEndian, Array.init)
            bytes += part
        }
        bytes += [UInt8](repeating: 0, count: Self.length(for: bytes.count) - bytes.count)
        return seal(bytes, about: Array(name(of: key).utf8))
    }

    /// Opens what was sealed under a name; nil if it was not sealed with this key and under this name.
    func open(_ sealed: [UInt8], named name: String) -> (key: RoamingKey, archive: [UInt8]?)? {
        guard let bytes = open(sealed, about: Array(name.utf8)), let kind = bytes.first,
            kind == Kind.value.rawValue || kind == Kind.removal.rawValue
        else { return nil }
        var rest = bytes.dropFirst()
        guard let domain = Self.part(&rest), let keyName = Self.part(&rest),
            let archive = Self.part(&rest)
        else { return nil }
        let key = RoamingKey(
            domain: String(decoding: domain, as: UTF8.self),
            name: String(decoding: keyName, as: UTF8.self))
        guard self.name(of: key) == name else { return nil }
        return (key, kind == Kind.value.rawValue ? archive : nil)
    }

    private static func part(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= 4 else { return nil }
        let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    // MARK: Lengths

    /// The bytes that sealing adds.
    static let overhead = Sodium.nonceSize + Sodium.tagSize

    /// The length to which contents are filled.
    ///
    /// It is at least 256 bytes, which most values fit in, and has one of 16 lengths between two powers
    /// of two, so that a length says little. It is not more than the largest value that roams, if the
    /// contents are not.
    static func length(for count: Int) -> Int {
        let step = max(64, (1 << (Int.bitWidth - 1 - max(count, 1).leadingZeroBitCount)) / 16)
        let filled = max(256, (count + step - 1) / step * step)
        return max(count, min(filled, RoamTerms.largestValue - overhead))
    }

    // MARK: Names of machines

    /// Sealed, it has 84 letters, which every engine keeps.
    private static let longestMachine = 22

    /// Seals the name of a machine, of which the end is cut if it is long.
    func seal(machine: String, of replica: ReplicaID) -> String {
        var bytes = [Kind.machine.rawValue]
        var name = machine
        while name.utf8.count > Self.longestMachine { name.removeLast() }
        bytes += Array(name.utf8)
        bytes += [UInt8](repeating: 0, count: Self.longestMachine - name.utf8.count)
        return Sodium.text(of: seal(bytes, about: replica.bytes))
    }

    /// Opens the name of a machine; nil if it was not sealed with this key for this replica.
    func open(machine sealed: String, of replica: ReplicaID) -> String? {
        guard let bytes = Sodium.bytes(of: sealed).flatMap({ open($0, about: replica.bytes) }),
            bytes.first == Kind.machine.rawValue
        else { return nil }
        return String(
            decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    }

    // MARK: Bytes

    private func seal(_ bytes: [UInt8], about context: [UInt8]) -> [UInt8] {
        // Invariant 2. With the length, no two pairs of context and contents are the same bytes.
        let whole = [UInt8(context.count)] + context + bytes
        let nonce = Sodium.hash(whole, key: nonces, size: Sodium.nonceSize)
        return nonce + Sodium.encrypt(bytes, about: context, nonce: nonce, key: contents)
    }

    private func open(_ sealed: [UInt8], about context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.overhead else { return nil }
        return Sodium.decrypt(
            Array(sealed.dropFirst(Sodium.nonceSize)), about: context,
            nonce: Array(sealed.prefix(Sodium.nonceSize)), key: contents)
    }
}
