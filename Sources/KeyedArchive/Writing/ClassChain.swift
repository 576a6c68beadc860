package import PropertyList

/// The class and its superclasses, as a class record has them in `$classes`.
package enum ClassChain {
    /// What stands between a known class and NSObject; all others stand right below NSObject.
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

    package static func of(_ className: Text) -> [Text] {
        guard className.hasPrefix("NS") else { return [className, "NSObject"] }
        guard className != "NSObject" else { return [className] }
        return [className] + (superclasses[className] ?? []) + ["NSObject"]
    }
}
