internal import KeyedArchive

/// Where an application declares its keys, and what all keys have.
///
/// Keys are declared once, as members of an extension, and used everywhere else by that name:
///
/// ```swift
/// extension DefaultsKeys {
///     static let playSound = DefaultsKey("PlaySound", default: true)
///     static let player = DefaultsKey<Player?>("Player")
/// }
///
/// let defaults = Defaults(domain: "org.example.Game")
/// defaults[.playSound] = false
/// ```
///
/// A key is unchangeable (`@unchecked Sendable` as only ``DefaultsKey`` inherits of it).
public class DefaultsKeys: @unchecked Sendable {
    /// The name in the domain: 1 to 1024 bytes of UTF-8, no NUL.
    public var name: String { id.string }
    /// The name, compared by its bytes.
    let id: KeyName
    /// The class of what keeps a decoded value of the key.
    let holder: ObjectIdentifier
    /// What keeps the default, where all who read it may be given the same.
    @usableFromInline let fallback: AnyDecoded?

    init(name: String, holder: ObjectIdentifier, fallback: AnyDecoded?) {
        id = KeyName(name)
        self.holder = holder
        self.fallback = fallback
    }
}

/// The name of a value in a domain, its type, and what holds where no layer has it.
///
/// A value is any Codable, and is read as the type says:
///
/// - What a property list has is stored as itself: booleans, numbers, strings, data, dates, and arrays
///   and dictionaries of them. An enumeration with a raw value is stored by that.
/// - Everything else is stored as an object of its class, which other programs and `defaultsctl` see
///   field by field.
/// - A stored object may lack fields, because an earlier version of the application has written it.
///   These fields have the values that they have in the key's default. The class of a structure may
///   have another name in the archive than in the program.
/// - A key of an optional reads nil where there is no value, unless it has a default; setting nil
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
/// A value that cannot be read as the key's type reads as the default, and ``Defaults/failures`` says
/// why. If the application then sets the key, the value that it could not read is kept under a second
/// key, `GameOptions (unreadable)`. ``DefaultsKeys`` shows how keys are declared.
public final class DefaultsKey<Value>: DefaultsKeys, @unchecked Sendable {
    /// How values become archives, and archives values.
    let coding: ValueCoding<Value>
    private let makeDefault: @Sendable () -> Value

    /// What holds where no layer has the key.
    public var defaultValue: Value { makeDefault() }

    /// The value of an archive: fields that it lacks have the values that they have in the default.
    func value(of archive: KeyedArchive) throws -> Value {
        try coding.value(of: archive, default: makeDefault)
    }

    /// Makes a key of any coding.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - coding: How values become archives, and archives values.
    ///   - value: Makes what holds where no layer has the key.
    public init(
        _ name: String, coding: ValueCoding<Value>, default value: @escaping @Sendable () -> Value
    ) {
        self.coding = coding
        makeDefault = value
        super.init(
            name: name, holder: ObjectIdentifier(Decoded<Value>.self),
            fallback: coding.isShared ? Decoded(value()) : nil)
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
    ///   - value: What holds where no layer has the key.
    public convenience init(_ name: String, default value: Value) {
        self.init(name, coding: .codable(), default: { value })
    }
}

extension DefaultsKey where Value: RawRepresentable & Sendable, Value.RawValue: Codable & Sendable {
    /// Makes a key of a type that is stored by its raw value.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: What holds where no layer has the key, or has a raw value that is none.
    public convenience init(_ name: String, default value: Value) {
        self.init(name, coding: .rawRepresentable(), default: { value })
    }
}

extension DefaultsKey
where Value: Codable & RawRepresentable & Sendable, Value.RawValue: Codable & Sendable {
    /// Makes a key of a type that is stored by its raw value.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: What holds where no layer has the key, or has a raw value that is none.
    public convenience init(_ name: String, default value: Value) {
        self.init(name, coding: .rawRepresentable(), default: { value })
    }
}

extension DefaultsKey {
    /// Makes a key of an optional: nil removes the value, and where there is none the default holds.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: What holds where no layer has the key.
    public convenience init<Wrapped: Codable & Sendable>(
        _ name: String, default value: Wrapped? = nil
    ) where Value == Wrapped? {
        self.init(name, coding: .optional(.codable()), default: { value })
    }

    /// Makes a key of an optional raw value: nil removes the value, and where there is none the default
    /// holds.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: What holds where no layer has the key.
    public convenience init<Wrapped: RawRepresentable & Sendable>(
        _ name: String, default value: Wrapped? = nil
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(name, coding: .optional(.rawRepresentable()), default: { value })
    }

    /// Makes a key of an optional raw value: nil removes the value, and where there is none the default
    /// holds.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - value: What holds where no layer has the key.
    public convenience init<Wrapped: Codable & RawRepresentable & Sendable>(
        _ name: String, default value: Wrapped? = nil
    ) where Value == Wrapped?, Wrapped.RawValue: Codable & Sendable {
        self.init(name, coding: .optional(.rawRepresentable()), default: { value })
    }
}

/// A decoded value without its type.
///
/// It never changes, and is kept only where the value may be given to all threads.
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
