internal import Foundation
public import KeyedArchive

extension KeyedArchive {
    /// Archives an object and all that it refers to.
    ///
    /// The object's class, and those of all others, conform to NSSecureCoding. Of Foundation's own
    /// classes these can be archived: NSString, NSNumber, NSData, NSDate, NSNull, NSURL, NSUUID,
    /// NSArray, NSDictionary, NSSet, NSCountedSet, NSOrderedSet and what of them is mutable,
    /// NSError, NSURLQueryItem, NSTimeZone, NSLocale, NSPersonNameComponents, NSDateComponents
    /// without a calendar; and the values of Swift that are bridged to one of them.
    ///
    /// The same objects give the same bytes in each run: fields are sorted by name, entries of
    /// dictionaries and elements of sets have an order of their own. Booleans stay booleans. An
    /// object that several refer to is written once, and circles are fine.
    ///
    /// What an object gives to its coder is asked for its fields after the object's `encode(with:)`
    /// returned, and not within it.
    ///
    /// ```swift
    /// let archive = try KeyedArchive(archiving: account)
    /// try archive.data.write(to: file)
    /// ```
    ///
    /// - Throws: ``ObjectCodingError`` with the names of the fields that lead to what cannot be
    ///   archived.
    public init(
        archiving object: Any?, options: ObjectCodingOptions = ObjectCodingOptions()
    ) throws(ObjectCodingError) {
        self = try ObjectCollector(options: options).archive(object)
    }
}
