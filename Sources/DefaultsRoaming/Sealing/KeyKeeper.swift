import DefaultsClient
import DefaultsSecrets
import RoamingTerms

/// Keeps the master keys of places in the user's keyring, and finds the one of a place.
struct KeyKeeper: Sendable {
    private let secrets: Secrets
    private let defaults: RemoteDefaults

    init(_ secrets: Secrets, _ defaults: RemoteDefaults) {
        self.secrets = secrets
        self.defaults = defaults
    }

    /// A passphrase that the user has given.
    struct Offer: Sendable {
        let passphrase: String
        /// Whether to make a key if the place has none.
        let mayMakeKey: Bool
    }

    /// The key of a place; nil if the keyring has none.
    ///
    /// - Throws: `SecretsError` if there is no keyring, or it stays locked.
    func key(of place: RoamSettings.Place) async throws -> MasterKey? {
        let text = try await secrets.value(of: Self.secret(of: place))
        return text.flatMap { Sodium.bytes(of: $0) }.flatMap { MasterKey(bytes: $0) }
    }

    private func keep(_ key: MasterKey, of place: RoamSettings.Place) async throws {
        try await secrets.set(Sodium.text(of: key.bytes), for: Self.secret(of: place))
    }

    private static func secret(of place: RoamSettings.Place) -> SecretKey<String?> {
        SecretKey<String?>("\(place)")
    }

    /// Finds the key of a place: that of the keyring, or the one that a passphrase opens or makes.
    ///
    /// - Parameter look: Looks at what the place has.
    /// - Throws: ``RoamError`` if there is none, or the passphrase is wrong; ``NoKey`` if the place has
    ///   none and none was to be made; `SecretsError` if the keyring cannot be used.
    func findKey(
        of place: RoamSettings.Place, with offer: Offer?,
        _ look: @Sendable () async throws -> SealedPlace
    ) async throws -> MasterKey {
        let kept = try await key(of: place)
        guard let offer else {
            guard let kept else { throw RoamError.noKeyHere }
            return kept
        }
        let found = try await look()
        if let wrapped = found.wrappedKey {
            let key = try wrapped.key(passphrase: offer.passphrase)
            if key != kept { try await keep(key, of: place) }
            return key
        }
        guard !found.hasValues else { throw RoamError.noKeyThere }
        guard offer.mayMakeKey else { throw NoKey() }
        let key = kept ?? .random()
        // First, because a key in the keyring is used without a passphrase from then on.
        try await wrap(key, offer.passphrase)
        if kept == nil { try await keep(key, of: place) }
        return key
    }

    /// Wraps a key by a passphrase, and lets it roam.
    func wrap(_ key: MasterKey, _ passphrase: String) async throws {
        var change = DefaultsTransaction()
        change.set(
            WrappedKey.key.name, to: try WrappedKey(key, passphrase: passphrase).archive())
        change.isDurable = true
        try await defaults.apply(change, in: WrappedKey.key.domain)
    }
}

/// The place has no key yet.
struct NoKey: Error, CustomStringConvertible {
    let description = "No machine has made a key at this place yet."
}

extension RoamError {
    static let noKeyHere = RoamError(
        "The keyring has no key for this place. Run 'defaultsctl roam enable --encrypt'.")
    static let noKeyThere = RoamError(
        "This place has encrypted values, and not yet the key. Wait until everything is there, or run "
            + "'defaultsctl roam passphrase' on a machine that roams already.")
    static let notEncrypted = RoamError(
        "This machine roams without encryption; see: defaultsctl roam enable --help")
    static let emptyPassphrase = RoamError("The passphrase is empty.")
}
