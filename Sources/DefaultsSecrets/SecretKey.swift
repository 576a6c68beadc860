/// The base of all keys of secrets, in an extension of which an app declares them.
///
/// ```swift
/// extension AnySecretKey {
///     static let token = SecretKey<String?>("Token")
/// }
/// ```
///
/// It is a class, so that ``SecretKey`` inherits the declarations and `.token` can be written for a
/// key. A key never changes (`@unchecked Sendable`, because ``SecretKey`` inherits from it).
public class AnySecretKey: @unchecked Sendable {
    /// The name of the secret in its domain: not empty, and without a NUL character.
    public let name: String
    /// The default as the app sees it.
    let shownDefault: any AnyShownValue

    init(name: String, shownDefault: any AnyShownValue) {
        self.name = name
        self.shownDefault = shownDefault
    }
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
public final class SecretKey<Value: Sendable>: AnySecretKey, @unchecked Sendable {
    /// The value that is read if the keyring has no such secret.
    public let defaultValue: Value
    /// How values are encoded and decoded.
    let coding: SecretCoding<Value>

    init(_ name: String, coding: SecretCoding<Value>, default value: Value) {
        defaultValue = value
        self.coding = coding
        super.init(name: name, shownDefault: ShownValue(value: value))
    }
}

extension SecretKey where Value: Codable {
    /// Makes a key of a Codable type.
    ///
    /// - Parameters:
    ///   - name: Not empty, and without a NUL character.
    ///   - value: The value that is read if the keyring has no such secret.
    public convenience init(_ name: String, default value: Value) {
        self.init(name, coding: .codable(), default: value)
    }
}

extension SecretKey {
    /// Makes a key of an optional type.
    ///
    /// Setting nil removes the secret. If there is no secret, the default is read.
    ///
    /// - Parameters:
    ///   - name: Not empty, and without a NUL character.
    ///   - value: The value that is read if the keyring has no such secret.
    public convenience init<Wrapped: Codable & Sendable>(
        _ name: String, default value: Wrapped? = nil
    ) where Value == Wrapped? {
        self.init(name, coding: .codable(), default: value)
    }

    /// Not available: the type is not Codable.
    @available(
        *, unavailable,
        message:
            "The type of a secret must conform to Codable. Add the conformance, or use a String."
    )
    public convenience init(_ name: String, default value: Value) {
        preconditionFailure("A secret needs a Codable type.")
    }

    /// Not available: the type is not optional, or what it wraps is not Codable.
    @available(
        *, unavailable,
        message: """
            A secret needs a default, unless its type is optional. The type must conform to Codable.
            """
    )
    public convenience init(_ name: String) {
        preconditionFailure("A secret needs a Codable type, and a default unless it is optional.")
    }
}

extension SecretKey {
    /// The value that is read after a value was set.
    ///
    /// Nil removes the secret, so that is the default.
    func shown(_ value: Value, storedAs secret: StoredSecret?) -> ShownValue<Value> {
        ShownValue(value: secret == nil ? defaultValue : value)
    }
}

extension AnySecretKey: CustomStringConvertible, CustomReflectable {
    /// The name.
    public var description: String { name }
    /// The name alone: neither the secret nor its default is shown.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
