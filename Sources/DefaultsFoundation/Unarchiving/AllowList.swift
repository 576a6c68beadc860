internal import Foundation

/// The classes that objects may be of at one place.
struct AllowList {
    /// What is asked for where a property list is.
    static let propertyList = AllowList([
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSData.self, NSDate.self,
    ])

    /// What may stand anywhere below, whatever is asked for: these do nothing but hold a value.
    private static let leaves = AllowList([
        NSString.self, NSNumber.self, NSData.self, NSDate.self, NSNull.self,
    ])

    let classes: [AnyClass]
    private let identifiers: [ObjectIdentifier]

    init(_ classes: [AnyClass]) {
        self.classes = classes
        identifiers = classes.map { ObjectIdentifier($0) }
    }

    /// Whether a class or one that it inherits of is in the list.
    func admits(_ class: AnyClass) -> Bool {
        sequence(first: `class`, next: { _getSuperclass($0) }).contains { ancestor in
            identifiers.contains(ObjectIdentifier(ancestor))
        }
    }

    /// Whether an object may be an element of a collection that is allowed, or a field that is
    /// decoded without naming a class.
    func admitsBelow(_ class: AnyClass) -> Bool {
        admits(`class`) || Self.leaves.admits(`class`)
    }
}
