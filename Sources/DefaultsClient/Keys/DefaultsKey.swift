internal import KeyedArchive
import Synchronization

/// The base of all keys, in an extension of which an application declares its keys.
///
/// Declare each key once, and use it everywhere by its name:
///
/// ```swift
/// extension AnyDefaultsKey {
///     static let playSound = DefaultsKey("PlaySound", default: true)
///     static let player = DefaultsKey<Player?>("Player")
/// }
///
/// let defaults = Defaults(domain: "org.example.Game")
/// defaults[.playSound] = false
/// ```
///
/// A key never changes (`@unchecked Sendable`, because ``DefaultsKey`` inherits from it).
///
/// Two keys are equal if they have the same name and values of the same type.
public class AnyDefaultsKey: Hashable, @unchecked Sendable {
    /// The name in the domain: 1 to 1024 bytes of UTF-8, no NUL.
    ///
    /// A key with an invalid name reads its default. Setting it fails with `invalidName`.
    public var name: String { id.string }
    /// The name, compared by its bytes.
    let id: KeyName
    /// The class of decoded values of the key.
    let holder: ObjectIdentifier
    /// The default, if it was needed before and all readers may have the same value.
    private let held = Mutex<AnyDecoded?>(nil)

    init(name: String, holder: ObjectIdentifier) {
        id = KeyName(name)
        self.holder = holder
    }

    /// The default that was kept.
    var keptDefault: AnyDecoded? { held.withLock { $0 } }

    /// Keeps a default, and returns the kept one: another thread may have been faster.
    func keep(_ made: AnyDecoded) -> AnyDecoded {
        held.withLock { held in
            let kept = held ?? made
            held = kept
            return kept
        }
    }

    /// Whether both have the same name and values of the same type.
    public static func == (one: AnyDefaultsKey, other: AnyDefaultsKey) -> Bool {
        one.id == other.id && one.holder == other.holder
    }

    /// Adds the name and the type.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(holder)
    }
}

/// The name of a value in a domain, its type, and its default, which is in effect if no layer has the
/// key.
///
/// The value can be of any Codable type:
///
/// - Booleans, numbers, strings, data, dates, and arrays and dictionaries of them are stored as
///   themselves. An enumeration with a raw value is stored as its raw value.
/// - Everything else is stored as an object of its class. Other programs and `defaultsctl` see its
///   fields.
/// - If a stored object lacks fields, because an earlier version of the application has written it,
///   their values come from the key's default. The class may have another name in the archive than in
///   the program.
/// - A key of an optional type reads nil if there is no value and the key has no default. Setting nil
///   removes the value.
///
/// ```swift
/// struct GameOptions: Codable {
///     var playSound = true
///     var playMusic = true  // since version 2: true for those who have stored version 1
/// }
/// static let gameOptions = DefaultsKey("GameOptions", default: GameOptions())
/// ```
///
/// If a value is not of the key's type, the default is read instead, and ``Defaults/failures`` reports
/// why. If the application then sets the key, the old value is kept under a second key, `GameOptions
/// (unreadable)`. ``AnyDefaultsKey`` shows how to declare keys.
public final class DefaultsKey<Value>: AnyDefaultsKey, @unchecked Sendable {
    /// How values are encoded and decoded.
    let coding: ValueCoding<Value>
    private let makeDefault: @Sendable () -> Value
    /// Whether all readers get the default that was made first.
    private let keepsDefault: Bool

    /// The value that is in effect if no layer has the key.
    ///
    /// A constant default is evaluated once and kept, except for objects. A closure is called each time.
    public var defaultValue: Value {
        guard keepsDefault else { return makeDefault() }
        if let kept = keptDefault as? Decoded<Value> { return kept.value }
        // No lock is held here: the expression may read other defaults.
        let made = Decoded(makeDefault())
        return (keep(made) as? Decoded<Value> ?? made).value
    }

    /// The value of an archive.
    ///
    /// Fields that it lacks come from the default.
    ///
    /// - Returns: Also whether there are such fields.
    func value(of archive: KeyedArchive) throws -> (value: Value, isFilled: Bool) {
        var isFilled = false
        let fill: () -> Value? = {
            isFilled = true
            return self.defaultValue
        }
        let value = try coding.value(of: archive, default: fill)
        return (value, isFilled)
    }

    private init(
        _ name: String, _ coding: ValueCoding<Value>, isConstant: Bool,
        _ makeDefault: @escaping @Sendable () -> Value
    ) {
        self.coding = coding
        self.makeDefault = makeDefault
        // A reader could change an object that others have, too.
        keepsDefault = isConstant && coding.isShared
        super.init(name: name, holder: ObjectIdentifier(Decoded<Value>.self))
    }

    /// Makes a key with a coding of its own.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - coding: How values are encoded and decoded.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated when it is first
    ///     needed; for objects, each time.
    public convenience init(
        _ name: String, coding: ValueCoding<Value>,
        default value: @autoclosure @escaping @Sendable () -> Value
    ) {
        self.init(name, coding, isConstant: true, value)
    }

    /// Makes a key with a coding of its own, and with a default that may change.
    ///
    /// ```swift
    /// static let since = DefaultsKey("Since", coding: seconds) { .now }
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - coding: How values are encoded and decoded.
    ///   - makeDefault: Makes the value that is in effect if no layer has the key. It is called each time
    ///     that the value is needed.
    public convenience init(
        _ name: String, coding: ValueCoding<Value>,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        self.init(name, coding, isConstant: false, makeDefault)
    }
}

extension DefaultsKey where Value: Codable & Sendable {
    /// Makes a key of a Codable type.
    ///
    /// ```swift
    /// static let playSound = DefaultsKey("PlaySound", default: true)
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated when it is first
    ///     needed.
    public convenience init(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value
    ) {
        self.init(name, coding: .codable(), default: value())
    }

    /// Makes a key of a Codable type with a default that may change.
    ///
    /// ```swift
    /// static let language = DefaultsKey("Language") { languageOfTheSession() }
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - makeDefault: Makes the value that is in effect if no layer has the key. It is called each time
    ///     that the value is needed.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, coding: .codable(), default: makeDefault)
    }
}

extension DefaultsKey
where Value: RawRepresentable & Sendable, Value.RawValue: Codable & Sendable {
    /// Makes a key of a type that is stored as its raw value.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key, or if its raw value is invalid.
    ///     It is evaluated when it is first needed.
    public convenience init(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value
    ) {
        self.init(name, coding: .rawRepresentable(), default: value())
    }

    /// Makes a key of a type that is stored as its raw value, with a default that may change.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - makeDefault: Makes the value that is in effect if no layer has the key. It is called each time
    ///     that the value is needed.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, coding: .rawRepresentable(), default: makeDefault)
    }
}

extension DefaultsKey
where Value: Codable & RawRepresentable & Sendable, Value.RawValue: Codable & Sendable {
    /// Makes a key of a type that is stored as its raw value.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key, or if its raw value is invalid.
    ///     It is evaluated when it is first needed.
    public convenience init(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value
    ) {
        self.init(name, coding: .rawRepresentable(), default: value())
    }

    /// Makes a key of a type that is stored as its raw value, with a default that may change.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - makeDefault: Makes the value that is in effect if no layer has the key. It is called each time
    ///     that the value is needed.
    public convenience init(_ name: String, default makeDefault: @escaping @Sendable () -> Value) {
        self.init(name, coding: .rawRepresentable(), default: makeDefault)
    }
}

extension DefaultsKey {
    /// Makes a key of an optional type.
    ///
    /// Setting nil removes the value. If there is no value, the default is in effect.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated when it is first
    ///     needed.
    public convenience init<Wrapped: Codable & Sendable>(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Wrapped? {
        self.init(name, coding: .optional(.codable()), default: value())
    }

    /// Makes a key of an optional type that is stored as its raw value.
    ///
    /// Setting nil removes the value. If there is no value, the default is in effect.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated when it is first
    ///     needed.
    public convenience init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(name, coding: .optional(.rawRepresentable()), default: value())
    }

    /// Makes a key of an optional type that is stored as its raw value.
    ///
    /// Setting nil removes the value. If there is no value, the default is in effect.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: The value that is in effect if no layer has the key. It is evaluated when it is first
    ///     needed.
    public convenience init<Wrapped: Codable & RawRepresentable & Sendable>(
        _ name: String, default value: @autoclosure @escaping @Sendable () -> Value = nil
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(name, coding: .optional(.rawRepresentable()), default: value())
    }
}

extension DefaultsKey {
    /// Not available: the type of the value is not Codable.
    @available(
        *, unavailable,
        message:
            "The type of the value is not Codable and Sendable. Make it so, or give the key a coding: DefaultsKey(name, coding: ValueCoding(encode:decode:), default:). For a class of NSSecureCoding, use DefaultsKey(name, ofClass:) of DefaultsFoundation."
    )
    public convenience init(_ name: String, default value: @autoclosure () -> Value) {
        preconditionFailure("unavailable")
    }

    /// Not available: the type of the value is not Codable.
    @available(
        *, unavailable,
        message:
            "The type of the value is not Codable and Sendable. Make it so, or give the key a coding: DefaultsKey(name, coding: .optional(ValueCoding(encode:decode:)))"
    )
    public convenience init<Wrapped>(_ name: String) where Value == Wrapped? {
        preconditionFailure("unavailable")
    }
}

/// A decoded value without its type.
///
/// It never changes, and is kept only if all threads may have the value.
@usableFromInline
class AnyDecoded: @unchecked Sendable {}

/// A decoded value.
@usableFromInline
final class Decoded<Value>: AnyDecoded, @unchecked Sendable {
    @usableFromInline let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
