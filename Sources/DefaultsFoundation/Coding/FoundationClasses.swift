internal import Foundation

/// Which of Foundation's classes can be coded safely, and how.
///
/// The `init(coder:)` and `encode(with:)` of many of them trap: if a field is missing or has
/// another type, if the coder is not one of Foundation's own, or always, because they are not
/// implemented. So this module codes the common classes itself. Of the others, it calls only those
/// whose source was read and that were tested with wrong fields. It never calls any other, nor
/// their subclasses.
enum FoundationClasses {
    /// A class whose objects this module encodes and decodes itself.
    enum Known {
        case string, mutableString
        case number
        case data, mutableData
        case date, null, url, uuid
        case array, mutableArray
        case dictionary, mutableDictionary
        case set, mutableSet, countedSet
        case orderedSet, mutableOrderedSet
        case error, queryItem
        case indexSet, mutableIndexSet
        case value, dateInterval
        case attributedString, mutableAttributedString
    }

    /// How a class can be coded.
    enum Way {
        /// By this module.
        case known(Known)
        /// By the class itself.
        case own
        /// Not at all, because the class is, or inherits from, this class of Foundation.
        case refused(AnyClass)
    }

    private static let known: [(AnyClass, Known)] = [
        (NSString.self, .string), (NSMutableString.self, .mutableString),
        (NSNumber.self, .number),
        (NSData.self, .data), (NSMutableData.self, .mutableData),
        (NSDate.self, .date), (NSNull.self, .null), (NSURL.self, .url), (NSUUID.self, .uuid),
        (NSArray.self, .array), (NSMutableArray.self, .mutableArray),
        (NSDictionary.self, .dictionary), (NSMutableDictionary.self, .mutableDictionary),
        (NSSet.self, .set), (NSMutableSet.self, .mutableSet), (NSCountedSet.self, .countedSet),
        (NSOrderedSet.self, .orderedSet), (NSMutableOrderedSet.self, .mutableOrderedSet),
        (NSError.self, .error), (NSURLQueryItem.self, .queryItem),
        (NSIndexSet.self, .indexSet), (NSMutableIndexSet.self, .mutableIndexSet),
        (NSValue.self, .value), (NSDateInterval.self, .dateInterval),
        (NSAttributedString.self, .attributedString),
        (NSMutableAttributedString.self, .mutableAttributedString),
    ]

    private static let kinds: [ObjectIdentifier: Known] = Dictionary(
        uniqueKeysWithValues: known.map { (ObjectIdentifier($0.0), $0.1) })

    /// The classes of Foundation that can code themselves with any coder and any fields.
    private static let codable: [AnyClass] = [
        NSTimeZone.self, NSLocale.self, NSPersonNameComponents.self, NSDateComponents.self,
    ]

    private static let safe = Set(codable.map { ObjectIdentifier($0) })

    private static let named: [String: AnyClass] = Dictionary(
        uniqueKeysWithValues: (known.map(\.0) + codable).map {
            (ClassNames.qualifiedName(of: $0), $0)
        })

    /// The class of Foundation with this name, if it can be coded.
    static func codable(named name: String) -> AnyClass? {
        named[name]
    }

    /// The class of Foundation under which objects of a possibly private class of Foundation are
    /// archived; nil if they do not archive themselves.
    static func codable(above class: AnyClass) -> AnyClass? {
        guard isFoundation(_typeName(`class`, qualified: true)) else { return nil }
        return sequence(first: `class`, next: { _getSuperclass($0) })
            .first { safe.contains(ObjectIdentifier($0)) }
    }

    static func isFoundation(_ qualifiedName: String) -> Bool {
        ["Foundation.", "FoundationEssentials.", "FoundationNetworking.", "FoundationXML."]
            .contains { qualifiedName.hasPrefix($0) }
    }

    /// How objects of the class can be coded.
    static func way(of class: AnyClass) -> Way {
        var isOfProgram = false
        var refused: AnyClass?
        for ancestor in sequence(first: `class`, next: { _getSuperclass($0) }) {
            let identifier = ObjectIdentifier(ancestor)
            if safe.contains(identifier) { return .own }
            // It is an NSNumber, but its hash calls itself endlessly.
            if ancestor == NSDecimalNumber.self { return .refused(ancestor) }
            if let kind = kinds[identifier] {
                return isOfProgram ? .refused(ancestor) : .known(kind)
            }
            if identifier == ObjectIdentifier(NSObject.self) {
                return refused.map(Way.refused) ?? .own
            }
            // Foundation uses private classes in place of their public superclass.
            if isFoundation(_typeName(ancestor, qualified: true)) {
                refused = refused ?? ancestor
            } else {
                isOfProgram = true
            }
        }
        return .refused(refused ?? `class`)
    }
}
