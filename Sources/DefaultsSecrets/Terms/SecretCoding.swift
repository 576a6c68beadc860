/// How the values of a key are stored and read.
struct SecretCoding<Value: Sendable>: Sendable {
    /// Encodes a value; nil for nil, which is not stored.
    let encode: @Sendable (Value, SecretName) throws(SecretsError) -> StoredSecret?
    /// Decodes what the keyring has.
    let decode: @Sendable (StoredSecret, SecretName) throws(SecretsError) -> Value
}

extension SecretCoding where Value: Codable {
    /// The coding of a Codable type.
    static func codable() -> SecretCoding {
        SecretCoding(
            encode: { (value, name) throws(SecretsError) in
                try StoredSecret.encoding(value, as: name)
            },
            decode: { (secret, name) throws(SecretsError) in
                try secret.decoded(as: Value.self, name)
            })
    }
}
