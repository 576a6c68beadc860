internal import KeyedArchive

/// A secret as the keyring has it.
struct StoredSecret: Hashable, Sendable {
    /// The type of a `String`'s bytes, which libsecret takes for a password.
    private static let textType = "text/plain"
    /// The type of a keyed archive's bytes.
    private static let archiveType = "application/x-plist"
    /// The most bytes that are stored: every change of a secret has the whole keyring written anew.
    static let maximumSize = 1 << 20

    let bytes: [UInt8]
    let contentType: String
}

extension StoredSecret: CustomStringConvertible, CustomReflectable {
    /// Its size; never the bytes.
    var description: String { "a secret of \(bytes.count) bytes" }
    /// Nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoredSecret {
    /// The form in which a value is kept; nil for nil, which is not kept.
    ///
    /// - Throws: ``SecretsError``. What the value's own `encode(to:)` says of it goes no further: it
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
            throw .notEncodable(name, Value.self)
        }
        guard stored.bytes.count <= maximumSize else { throw .tooLarge(name, stored.bytes.count) }
        return stored
    }

    /// The value of a type that is kept in this form.
    ///
    /// Of the content type only that of archives says anything: gnome-keyring takes every secret for
    /// text. So a `String` is the text, and another value an archive, unless the type says otherwise.
    ///
    /// - Throws: ``SecretsError``, which says as little of the bytes as that of encoding.
    func decoded<Value: Codable>(
        as type: Value.Type, _ name: SecretName
    ) throws(SecretsError) -> Value {
        if Self.isText(type), contentType != Self.archiveType {
            guard let text = String(validating: bytes, as: UTF8.self), let value = text as? Value
            else { throw .notDecodable(name, type, hasArchive: isArchive) }
            return value
        }
        guard let value = try? KeyedArchiveDecoder().decode(type, from: bytes) else {
            throw .notDecodable(name, type, hasArchive: isArchive)
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
