package import PropertyList

/// A Foundation class from which values are read.
///
/// This is the only list of these classes. A mutable class counts as the class that it extends.
/// ``ObjectForm`` uses the class of the object itself. The decoder uses the first known class of
/// the object's chain, because it accepts subclasses, too.
package enum FoundationClass {
    case array
    case set
    case orderedSet
    case dictionary
    case string
    case data
    case date
    case url
    case uuid
    case null

    private static let names: [(name: StaticString, known: FoundationClass)] = [
        ("NSArray", .array), ("NSMutableArray", .array),
        ("NSSet", .set), ("NSMutableSet", .set),
        ("NSOrderedSet", .orderedSet), ("NSMutableOrderedSet", .orderedSet),
        ("NSDictionary", .dictionary), ("NSMutableDictionary", .dictionary),
        ("NSString", .string), ("NSMutableString", .string),
        ("NSData", .data), ("NSMutableData", .data),
        ("NSDate", .date), ("NSURL", .url), ("NSUUID", .uuid), ("NSNull", .null),
    ]

    /// The class with this name; nil for any other name.
    package init?(named name: PropertyList.StringRange, in list: PropertyList) {
        // The lengths are compared first, because this is enough for most names.
        for entry in Self.names
        where entry.name.utf8CodeUnitCount == name.count && list.isEqual(name, to: entry.name) {
            self = entry.known
            return
        }
        return nil
    }

    /// The name that is written.
    package var className: Text {
        switch self {
        case .array: "NSArray"
        case .set: "NSSet"
        case .orderedSet: "NSOrderedSet"
        case .dictionary: "NSDictionary"
        case .string: "NSString"
        case .data: "NSData"
        case .date: "NSDate"
        case .url: "NSURL"
        case .uuid: "NSUUID"
        case .null: "NSNull"
        }
    }

    /// Whether its objects consist of elements: arrays and sets.
    package var hasElements: Bool {
        switch self {
        case .array, .set, .orderedSet: true
        case .dictionary, .string, .data, .date, .url, .uuid, .null: false
        }
    }
}

extension KeyedArchive {
    /// The known class of the object with these fields, if its own class is one.
    package func knownClass(of fields: Fields) -> FoundationClass? {
        FoundationClass(named: className(of: fields), in: list)
    }
}

/// The class and its superclasses, as a class record has them in `$classes`.
package enum ClassChain {
    /// The classes between a known class and NSObject.
    ///
    /// All other classes are taken for direct subclasses of NSObject.
    private static let superclasses: [Text: [Text]] = [
        "NSMutableArray": ["NSArray"],
        "NSMutableAttributedString": ["NSAttributedString"],
        "NSMutableCharacterSet": ["NSCharacterSet"],
        "NSMutableData": ["NSData"],
        "NSMutableDictionary": ["NSDictionary"],
        "NSMutableIndexSet": ["NSIndexSet"],
        "NSMutableOrderedSet": ["NSOrderedSet"],
        "NSMutableSet": ["NSSet"],
        "NSCountedSet": ["NSMutableSet", "NSSet"],
        "NSMutableString": ["NSString"],
        "NSMutableURLRequest": ["NSURLRequest"],
        "NSHTTPURLResponse": ["NSURLResponse"],
        "NSNumber": ["NSValue"],
        "NSDecimalNumber": ["NSNumber", "NSValue"],
    ]

    /// The chain that begins with a class.
    package static func of(_ className: Text) -> [Text] {
        guard className.hasPrefix("NS") else { return [className, "NSObject"] }
        guard className != "NSObject" else { return [className] }
        return [className] + (superclasses[className] ?? []) + ["NSObject"]
    }
}
