/// The full name of a secret: its domain and its key.
struct SecretName: Hashable, Sendable {
    let domain: String
    let key: String

    /// - Throws: ``SecretsError`` with `invalidName` if the Secret Service cannot store this name.
    init(domain: String, key: String) throws(SecretsError) {
        for part in [domain, key] where part.isEmpty || part.utf8.contains(0) {
            throw .invalidName(domain: domain, key: key)
        }
        self.domain = domain
        self.key = key
    }

    /// What programs that list the keyring show.
    var label: String { "\(domain): \(key)" }

    /// The attributes by which the keyring finds it.
    ///
    /// https://specifications.freedesktop.org/secret-service/latest/lookup-attributes.html
    var attributes: [(String, String)] {
        [("xdg:schema", "org.defaultsd.Secret"), ("domain", domain), ("key", key)]
    }
}
