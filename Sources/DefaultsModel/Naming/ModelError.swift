import DefaultsTerms

/// A name that breaks the rules.
package struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which rule it breaks.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name as in the source.
        package let description: String

        /// The text is not a valid domain.
        package static let invalidDomain = Code(description: "invalidDomain")
        /// The text is not a valid key.
        package static let invalidKey = Code(description: "invalidKey")
        /// The parts of a transaction contradict each other, or its token is invalid.
        package static let invalidTransaction = Code(description: "invalidTransaction")
    }

    /// Which rule it breaks.
    package let code: Code
    /// The offset of the byte that breaks it, from 0.
    package let offset: Int
    /// The whole message in one or two sentences.
    package let description: String
}

/// The messages of all errors of this module.
extension ModelError {
    static func emptyDomain(_ text: String) -> ModelError {
        domain(
            text, offset: 0,
            "it has no name. Give NSGlobalDomain or an application ID such as org.example.Editor")
    }

    static func overlongDomain(_ text: String, length: Int) -> ModelError {
        domain(
            text, offset: Domain.maximumLength,
            "its name has \(length) bytes, and at most \(Domain.maximumLength) are allowed")
    }

    static func emptyElement(in text: String, offset: Int) -> ModelError {
        domain(
            text, offset: offset,
            "\(DomainRule.words(forEmptyElementAt: offset, in: text)). Put single dots between "
                + "elements")
    }

    static func strayCharacter(in text: String, offset: Int) -> ModelError {
        domain(
            text, offset: offset,
            "\(character(at: offset, of: text)) at byte \(offset) is not allowed. "
                + "A name is made of A-Z, a-z, 0-9, '_', '-' and '.'")
    }

    static func unknownLayer(in text: String, offset: Int) -> ModelError {
        domain(
            text, offset: offset,
            "the suffix at byte \(offset) does not name a layer. "
                + "Use @host, @host:NAME, @managed or @system")
    }

    static func layerOfSearch(in text: String, offset: Int) -> ModelError {
        domain(
            text, offset: offset,
            "the suffix at byte \(offset) selects one layer, but this call searches all layers. "
                + "Omit the suffix, or call Get")
    }

    static func invalidHost(in text: String, offset: Int) -> ModelError {
        domain(
            text, offset: offset,
            "the text from byte \(offset) on is not a host name. A host name is 1 to "
                + "\(HostID.maximumLength) characters of A-Z, a-z, 0-9, '.', '_' and '-'")
    }

    static func ambiguousHost(
        in text: String, offset: Int, _ hosts: [HostID]
    ) -> ModelError {
        let shown = hosts.sorted().prefix(8).map(\.name).joined(separator: ", ")
        return domain(
            text, offset: offset,
            "\(hosts.count) machines have the name that begins at byte \(offset). Use the ID of "
                + "the one you mean: \(shown)\(hosts.count > 8 ? ", …" : "")")
    }

    static var emptyKey: ModelError {
        key("", offset: 0, "it is empty. A key has 1 to \(KeyRule.maximumLength) bytes")
    }

    static func overlongKey(_ text: String) -> ModelError {
        key(
            text, offset: KeyRule.maximumLength,
            "it has \(text.utf8.count) bytes, and at most \(KeyRule.maximumLength) are allowed")
    }

    static func nulInKey(_ text: String, offset: Int) -> ModelError {
        key(text, offset: offset, "it has a NUL at byte \(offset). Remove it")
    }

    static func invalidToken(_ text: String) -> ModelError {
        transaction(
            "Invalid token \(text.quotedForMessage): it has \(text.utf8.count) bytes. A token has 1 to "
                + "\(Token.maximumLength) bytes without NUL")
    }

    static func keyTwice(_ key: Key, _ list: String) -> ModelError {
        transaction(
            "The key \(key.name.quotedForMessage) appears twice in '\(list)'. Name each key once")
    }

    static func keySetAndRemoved(_ key: Key) -> ModelError {
        transaction(
            "The key \(key.name.quotedForMessage) is both in 'set' and in 'remove'. Choose one")
    }

    static func expectedTwice(_ key: Key?) -> ModelError {
        let subject = key.map { "The key \($0.name.quotedForMessage)" } ?? "The whole domain, ''"
        return transaction("\(subject) appears twice in 'expected'. Give one generation for it")
    }

    private static func transaction(_ sentence: String) -> ModelError {
        ModelError(code: .invalidTransaction, offset: 0, description: "\(sentence).")
    }

    private static func domain(_ text: String, offset: Int, _ reason: String) -> ModelError {
        ModelError(
            code: .invalidDomain, offset: offset,
            description: "Invalid domain \(text.quotedForMessage): \(reason).")
    }

    private static func key(_ text: String, offset: Int, _ reason: String) -> ModelError {
        ModelError(
            code: .invalidKey, offset: offset,
            description: "Invalid key \(text.quotedForMessage): \(reason).")
    }

    /// The character that begins at this byte, in quotes.
    private static func character(at offset: Int, of text: String) -> String {
        let index = text.utf8.index(text.startIndex, offsetBy: offset)
        return String(text.unicodeScalars[index]).quotedForMessage
    }
}
