/// Which secret: its key in its domain.
struct SecretName: Hashable, Sendable {
    let domain: String
    let key: String

    /// Checks that the Secret Service can have a secret of this name.
    init(domain: String, key: String) throws(SecretsError) {
        for part in [domain, key] where part.isEmpty || part.utf8.contains(0) {
            throw .invalidName(domain: domain, key: key)
        }
        self.domain = domain
        self.key = key
    }

    /// What lists of the keyring show.
    var label: String { "\(domain): \(key)" }

    /// What the keyring finds it by.
    ///
    /// https://specifications.freedesktop.org/secret-service/latest/lookup-attributes.html
    var attributes: [(String, String)] {
        [("xdg:schema", "org.defaultsd.Secret"), ("domain", domain), ("key", key)]
    }
}
