public import Foundation
public import KeyedArchive

extension KeyedArchive {
    /// Makes the object that the archive is.
    ///
    /// No archive, whatever its bytes, can make this function trap, unless the `init(coder:)` of
    /// one of your own classes does. Nothing is made, and no code of a class is run, but of classes
    /// that are named here or in the call with which an object decodes a field; a class stands for
    /// its subclasses too. Strings, numbers, data, dates and NSNull inside collections need not be
    /// named.
    ///
    /// The classes conform to NSSecureCoding. Of Foundation's own, those that
    /// ``init(archiving:options:)`` names are made. Others, and classes that inherit of others, are
    /// refused, as their `init(coder:)` traps for wrong fields or for coders other than
    /// Foundation's: NSAttributedString, NSCalendar, NSCharacterSet, NSDateInterval, NSIndexPath,
    /// NSIndexSet, NSMeasurement, NSNotification, NSRegularExpression, NSTextCheckingResult,
    /// NSValue, formatters, units, predicates, requests, responses and credentials of URLs; and
    /// NSDecimalNumber, whose hash traps. Arrays, dictionaries and errors cannot be elements of
    /// sets, nor keys: their hash traps.
    ///
    /// Fields are exact: a number that does not fit, or is of another kind, is an error, though
    /// whole reals are integers, and 0 and 1 booleans. A field that is missing is nil, 0 or false,
    /// unless the options say otherwise. What an `init(coder:)` gives to `failWithError(_:)` is an
    /// error.
    ///
    /// ```swift
    /// let account = try archive.decodeObject(of: Account.self, allowing: [NSArray.self])
    /// ```
    ///
    /// - Parameters:
    ///   - class: The class of the object itself.
    ///   - others: The classes of what is in it, if it is a collection.
    ///   - key: The key of the object in the archive's `$top`.
    ///   - options: How classes are called in archives, and how much is read.
    /// - Returns: The object, or nil if the archive has nil there.
    /// - Throws: ``ObjectCodingError`` with the names of the fields that lead to what is wrong, and
    ///   its offset in the bytes.
    public func decodeObject<Object: NSObject & NSSecureCoding>(
        of class: Object.Type, allowing others: [AnyClass] = [], forKey key: String = "root",
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) throws(ObjectCodingError) -> Object? {
        let maker = ObjectMaker(of: self, options: options)
        let object = try maker.root(key, allowing: AllowList([`class`] + others))
        guard let object else { return nil }
        guard let result = object as? Object else {
            throw .classNotAllowed(ClassNames.qualifiedName(of: type(of: object)))
                .located(path: [key], at: nil)
        }
        return result
    }

    /// Makes the object that the archive is, which may be of several classes.
    ///
    /// All is as with ``decodeObject(of:allowing:forKey:options:)``.
    public func decodeObject(
        of classes: [AnyClass], forKey key: String = "root",
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) throws(ObjectCodingError) -> NSObject? {
        try ObjectMaker(of: self, options: options).root(key, allowing: AllowList(classes))
    }
}

extension NSCoder {
    /// Lets the objects that are decoded next refer to the one that is being made.
    ///
    /// If objects refer to each other in a circle, one of them must be known before it is
    /// done. Call this in `init(coder:)`, after `super.init()`, with all that other objects may
    /// look at in place. With coders of Foundation it does nothing.
    ///
    /// ```swift
    /// init?(coder: NSCoder) {
    ///     super.init()
    ///     coder.resolveReferences(to: self)
    ///     child = coder.decodeObject(of: Node.self, forKey: "child")
    /// }
    /// ```
    public func resolveReferences(to object: NSObject) {
        (self as? FieldDecoder)?.announce(object)
    }
}
