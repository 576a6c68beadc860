public import Foundation
public import KeyedArchive

extension KeyedArchive {
    /// Decodes the object of the archive.
    ///
    /// No archive can make this function trap, unless the `init(coder:)` of one of your own classes
    /// does. Only classes that are listed here, or in an object's call that decodes a field, are
    /// instantiated or have their code run. Listing a class also allows its subclasses. Strings,
    /// numbers, data, dates and NSNull inside collections need not be listed.
    ///
    /// The classes must conform to NSSecureCoding. Of Foundation's classes, those that
    /// ``init(archiving:options:)`` names can be decoded. Others and their subclasses are refused,
    /// because their `init(coder:)` traps for wrong fields or for coders that are not Foundation's:
    /// NSCalendar, NSCharacterSet, NSIndexPath, NSMeasurement, NSNotification,
    /// NSRegularExpression, NSTextCheckingResult, formatters, units, predicates, requests,
    /// responses and credentials of URLs; and NSDecimalNumber, whose hash traps. Arrays,
    /// dictionaries and errors cannot be elements of sets, nor keys: their hash traps.
    ///
    /// A number that does not fit, or has another type, is an error. But a whole real can be
    /// decoded as an integer, and 0 and 1 as booleans. A missing field is nil, 0 or false, unless
    /// the options say otherwise. If an `init(coder:)` calls `failWithError(_:)`, that is an error.
    ///
    /// ```swift
    /// let account = try archive.decodeObject(of: Account.self, allowing: [NSArray.self])
    /// ```
    ///
    /// - Parameters:
    ///   - class: The class of the object itself.
    ///   - others: The classes of its elements, if it is a collection.
    ///   - key: The key of the object in the archive's `$top`.
    ///   - options: The names of classes in archives, and limits.
    /// - Returns: The object, or nil if the archive has nil there.
    /// - Throws: ``ObjectCodingError`` with the names of the fields that lead to the fault, and its
    ///   offset.
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

    /// Decodes the object of the archive, which may have one of several classes.
    ///
    /// For everything else, see ``decodeObject(of:allowing:forKey:options:)``.
    public func decodeObject(
        of classes: [AnyClass], forKey key: String = "root",
        options: ObjectCodingOptions = ObjectCodingOptions()
    ) throws(ObjectCodingError) -> NSObject? {
        try ObjectMaker(of: self, options: options).root(key, allowing: AllowList(classes))
    }
}

extension NSCoder {
    /// Allows the objects that are decoded next to refer to this one.
    ///
    /// In a cycle of objects, one of them must be available before it is complete. Call this in
    /// `init(coder:)`, after `super.init()`, when everything that other objects may read is set.
    /// With Foundation's coders it does nothing.
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
