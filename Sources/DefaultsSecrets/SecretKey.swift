/// The base of all keys of secrets, in an extension of which an app declares them.
///
/// ```swift
/// extension AnySecretKey {
///     static let token = SecretKey<String?>("Token")
/// }
/// ```
///
/// It is a class, so that ``SecretKey`` inherits the declarations and `.token` can be written for a
/// key. It has no state (`@unchecked Sendable`).
public class AnySecretKey: @unchecked Sendable {
    init() {}
}

/// The name of a secret, its type, and its default, which is read if there is no such secret.
///
/// Declare each key once:
///
/// ```swift
/// extension AnySecretKey {
///     static let token = SecretKey<String?>("Token")
///     static let sign = SecretKey("Sign", default: Signature())
/// }
/// ```
///
/// A `String` is stored as text, which other programs can show and read. Any other Codable value is
/// stored as a keyed archive. Setting nil removes the secret.
///
/// A key never changes (`@unchecked Sendable`, because it inherits from a class).
public final class SecretKey<Value: Codable & Sendable>: AnySecretKey, @unchecked Sendable {
    /// The name of the secret in its domain.
    public let name: String
    /// The value that is read if the keyring has no such secret.
    public let defaultValue: Value

    /// Declares a secret with a default.
    ///
    /// - Parameters:
    ///   - name: Its name: not empty, and without a NUL character.
    ///   - defaultValue: The value that is read if the keyring has no such secret.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
        super.init()
    }

    /// Declares a secret of an optional type, which reads nil if the keyring does not have it.
    ///
    /// - Parameter name: Its name: not empty, and without a NUL character.
    public init(_ name: String) where Value: ExpressibleByNilLiteral {
        self.name = name
        defaultValue = nil
        super.init()
    }
}

extension SecretKey {
    /// The value that is read after a value was set.
    ///
    /// Nil removes the secret, so that is the default.
    func shown(_ value: Value, storedAs secret: StoredSecret?) -> Value {
        secret == nil ? defaultValue : value
    }
}

extension SecretKey: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// The name alone: neither the secret nor its default is shown.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
