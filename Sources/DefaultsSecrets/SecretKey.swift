/// Where an app declares its secrets.
///
/// ```swift
/// extension SecretKeys {
///     static let token = SecretKey<String?>("Token")
/// }
/// ```
///
/// It has no state and is never made itself (`@unchecked Sendable`): a class, so that ``SecretKey``
/// inherits what is declared in it, and `.token` stands for it wherever a key is due.
public class SecretKeys: @unchecked Sendable {
    init() {}
}

/// The name of a secret, its type, and what stands for it where there is none.
///
/// A key is declared once:
///
/// ```swift
/// extension SecretKeys {
///     static let token = SecretKey<String?>("Token")
///     static let sign = SecretKey("Sign", default: Signature())
/// }
/// ```
///
/// A `String` is kept as text, which other programs show and read; all else as a keyed archive.
/// Nil is no secret: to set it removes what is there.
///
/// All of it is constant (`@unchecked Sendable`, as a subclass cannot say it otherwise).
public final class SecretKey<Value: Codable & Sendable>: SecretKeys, @unchecked Sendable {
    /// The name, by which the keyring finds the secret within the domain.
    public let name: String
    /// What is read where the keyring has no such secret.
    public let defaultValue: Value

    /// Declares a secret.
    ///
    /// - Parameters:
    ///   - name: Its name: not empty, and without a NUL character.
    ///   - defaultValue: What is read where the keyring has no such secret.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
        super.init()
    }

    /// Declares a secret that may not be there.
    ///
    /// - Parameter name: Its name: not empty, and without a NUL character.
    public init(_ name: String) where Value: ExpressibleByNilLiteral {
        self.name = name
        defaultValue = nil
        super.init()
    }
}

extension SecretKey {
    /// What is read where a value was set: nil removes the secret, and then it is the default.
    func shown(_ value: Value, storedAs secret: StoredSecret?) -> Value {
        secret == nil ? defaultValue : value
    }
}

extension SecretKey: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// The name alone: what stands for a secret is shown as little as the secret.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
