public import DefaultsClient
public import Foundation

extension DefaultsKey {
    /// Makes a key for an array of objects of NSSecureCoding.
    ///
    /// ```swift
    /// static let accounts = DefaultsKey("Accounts", ofArrayOf: StoredAccount.self)
    /// ```
    ///
    /// Other programs see an NSArray, and one that they have written can be read. Each element is an
    /// archive of its own: an object that two elements refer to becomes two objects.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - class: The class of the elements.
    ///   - others: The classes of the elements of an element, if it is a collection.
    ///   - options: The names of classes in archives, and limits for each element.
    ///   - value: Makes the array if no layer has the key. It is called at each read of the key.
    public convenience init<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ name: String, ofArrayOf class: Object.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions(),
        default value: @escaping @Sendable () -> [Object] = { [] }
    ) where Value == [Object] {
        let object = ValueCoding<Object>.object(
            ofClass: `class`, allowing: others, options: options)
        self.init(name, coding: .array(of: object), default: value)
    }

    /// Makes a key for a dictionary of objects of NSSecureCoding.
    ///
    /// ```swift
    /// static let accountsByName = DefaultsKey("AccountsByName", ofDictionaryOf: StoredAccount.self)
    /// ```
    ///
    /// Other programs see an NSDictionary. For everything else, see the key for an array.
    ///
    /// - Parameters:
    ///   - name: 1 to 1024 bytes of UTF-8, no NUL.
    ///   - class: The class of the values.
    ///   - others: The classes of the elements of a value, if it is a collection.
    ///   - options: The names of classes in archives, and limits for each value.
    ///   - value: Makes the dictionary if no layer has the key. It is called at each read of the key.
    public convenience init<Object: NSObject & NSSecureCoding & SendableMetatype>(
        _ name: String, ofDictionaryOf class: Object.Type, allowing others: [AnyClass] = [],
        options: ObjectCodingOptions = ObjectCodingOptions(),
        default value: @escaping @Sendable () -> [String: Object] = { [:] }
    ) where Value == [String: Object] {
        let object = ValueCoding<Object>.object(
            ofClass: `class`, allowing: others, options: options)
        self.init(name, coding: .dictionary(of: object), default: value)
    }
}
