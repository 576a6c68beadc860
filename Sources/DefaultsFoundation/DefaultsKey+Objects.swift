public import DefaultsClient
public import Foundation
import KeyedArchive

extension DefaultsKey {
    /// Makes a key for objects of NSSecureCoding.
    ///
    /// It is nil if there is no value.
    ///
    /// Setting nil removes the value.
    ///
    /// ```swift
    /// extension AnyDefaultsKey {
    ///     static let account = DefaultsKey("Account", ofClass: StoredAccount.self)
    /// }
    ///
    /// defaults[.account] = StoredAccount(username: "ada")
    /// ```
    ///
    /// Each read makes a new object. Changing it does not change the defaults: set it again.
    /// `KeyedArchive.decodeObject(of:allowing:forKey:options:)` describes which objects can be
    /// decoded, and why no stored bytes can trap.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - class: The class of the object itself.
    ///   - others: The classes of its elements, if it is a collection.
    ///   - options: The names of classes in archives, and limits.
    public convenience init<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ name: String, ofClass class: Object.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) where Value == Object? {
        self.init(
            name, coding: .object(ofClass: `class`, allowing: others, options: options),
            default: { nil })
    }
}

extension DefaultsKey where Value: NSObject & NSSecureCoding & SendableMetatype {
    /// Makes a key for objects of NSSecureCoding with a default object.
    ///
    /// ```swift
    /// static let options = DefaultsKey("Options", ofClass: Options.self) { Options() }
    /// ```
    ///
    /// For everything else, see the key for an optional object.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - class: The class of the object itself.
    ///   - others: The classes of its elements, if it is a collection.
    ///   - options: The names of classes in archives, and limits.
    ///   - value: Makes the value if no layer has the key. It is called at each read of the key.
    public convenience init(
        _ name: String, ofClass class: Value.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions(),
        default value: @escaping @Sendable () -> Value
    ) {
        self.init(
            name, coding: .object(ofClass: `class`, allowing: others, options: options),
            default: value)
    }
}

extension ValueCoding where Value: NSObject & NSSecureCoding & SendableMetatype {
    /// The coding of objects of NSSecureCoding.
    ///
    /// - Parameters:
    ///   - class: The class of the object itself.
    ///   - others: The classes of its elements, if it is a collection.
    ///   - options: The names of classes in archives, and limits.
    public static func object(
        ofClass class: Value.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) -> ValueCoding {
        ValueCoding(
            encode: { try KeyedArchive(archiving: $0, options: options) },
            decode: { archive in
                let object = try archive.decodeObject(
                    of: `class`, allowing: others, options: options)
                guard let object else { throw ObjectCodingError.noObject }
                return object
            })
    }
}

extension ValueCoding {
    /// The coding of optional objects of NSSecureCoding.
    ///
    /// Nil is not stored. An archive of nil is read as nil.
    ///
    /// - Parameters:
    ///   - class: The class of the object itself.
    ///   - others: The classes of its elements, if it is a collection.
    ///   - options: The names of classes in archives, and limits.
    public static func object<Object: NSObject & NSSecureCoding & SendableMetatype>(
        ofClass class: Object.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) -> ValueCoding where Value == Object? {
        ValueCoding(
            encode: { try $0.map { try KeyedArchive(archiving: $0, options: options) } },
            decode: { try $0.decodeObject(of: `class`, allowing: others, options: options) })
    }
}
