internal import KeyedArchive
internal import Wording

/// A secret in the form that the keyring stores.
struct StoredSecret: Hashable, Sendable {
    /// The content type of a `String`, which libsecret treats as a password.
    private static let textType = "text/plain"
    /// The type of a keyed archive's bytes.
    private static let archiveType = "application/x-plist"
    /// The limit of the size in bytes.
    ///
    /// Each change of a secret writes the whole keyring.
    static let maximumSize = 1 << 20

    let bytes: [UInt8]
    let contentType: String
}

extension StoredSecret: CustomStringConvertible, CustomReflectable {
    /// Its size; never the bytes.
    var description: String { "a secret of \(counted(bytes.count, "byte"))" }
    /// Nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoredSecret {
    /// Encodes a value; nil for nil, which is not stored.
    ///
    /// - Throws: ``SecretsError``. It does not contain the error of the value's `encode(to:)`, which
    ///   could quote the secret.
    static func encoding<Value: Codable>(
        _ value: Value, as name: SecretName
    ) throws(SecretsError) -> StoredSecret? {
        if isNil(value) { return nil }
        let stored: StoredSecret
        if isText(Value.self), let text = value as? String {
            stored = StoredSecret(bytes: Array(text.utf8), contentType: textType)
        } else if let archive = try? KeyedArchiveEncoder().encode(value) {
            stored = StoredSecret(bytes: archive.bytes, contentType: archiveType)
        } else {
            throw .unencodable(name, Value.self)
        }
        guard stored.bytes.count <= maximumSize else { throw .tooLarge(name, stored.bytes.count) }
        return stored
    }

    /// Decodes a value of a type.
    ///
    /// gnome-keyring returns every secret as text, so only the content type of archives is certain. A
    /// `String` is read as text, unless the content type is that of archives. Other values are read as
    /// archives.
    ///
    /// - Throws: ``SecretsError``, which does not quote the bytes.
    func decoded<Value: Codable>(
        as type: Value.Type, _ name: SecretName
    ) throws(SecretsError) -> Value {
        if Self.isText(type), contentType != Self.archiveType {
            guard let text = String(validating: bytes, as: UTF8.self), let value = text as? Value
            else { throw .undecodable(name, type, hasArchive: isArchive) }
            return value
        }
        guard let value = try? KeyedArchiveDecoder().decode(type, from: bytes) else {
            throw .undecodable(name, type, hasArchive: isArchive)
        }
        return value
    }

    private var isArchive: Bool { bytes.starts(with: "bplist00".utf8) }

    private static func isText<Value>(_ type: Value.Type) -> Bool {
        type == String.self || type == String?.self
    }

    private static func isNil<Value>(_ value: Value) -> Bool {
        (value as? any Nullable)?.isNil ?? false
    }
}

/// An optional of any type.
private protocol Nullable {
    var isNil: Bool { get }
}

extension Optional: Nullable {
    fileprivate var isNil: Bool { self == nil }
}
