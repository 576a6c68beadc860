internal import PropertyList

/// A class of the archive that is decoded.
final class ArchivedClass {
    /// What objects of the class are, as far as the decoder knows them.
    enum Kind {
        case list
        case dictionary
        case string
        case data
        case date
        case url
        case uuid
        case null
        case other

        fileprivate init(_ name: String) {
            switch name {
            case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet",
                "NSMutableOrderedSet":
                self = .list
            case "NSDictionary", "NSMutableDictionary": self = .dictionary
            case "NSString", "NSMutableString": self = .string
            case "NSData", "NSMutableData": self = .data
            case "NSDate": self = .date
            case "NSURL": self = .url
            case "NSUUID": self = .uuid
            case "NSNull": self = .null
            default: self = .other
            }
        }
    }

    /// No name of a class that is known here is longer.
    private static let longestName = 19
    /// More superclasses than any class has are not searched for each object's sake.
    private static let chainLimit = 64

    private let list: PropertyList
    /// The UID of the class record.
    let uid: UInt64
    /// The string that is its name.
    let name: ObjectIndex
    /// What its record has as the names of the class and its superclasses.
    private let chain: PropertyList.References?
    /// What the first known class of the chain is.
    private(set) lazy var kind: Kind = {
        for name in [name] + superclasses {
            guard let range = list.string(at: name), range.count <= Self.longestName,
                let string = list.wellFormedString(of: range)
            else { continue }
            let kind = Kind(string)
            if kind != .other { return kind }
        }
        return .other
    }()

    init?(uid: UInt64, record: Fields, in list: PropertyList) {
        guard let name = record["$classname", in: list] else { return nil }
        self.list = list
        self.uid = uid
        self.name = name
        if let classes = record["$classes", in: list],
            case .array(let references) = list.value(at: classes)
        {
            chain = references
        } else {
            chain = nil
        }
    }

    /// The names of its superclasses, and mostly of itself.
    var superclasses: [ObjectIndex] {
        chain.map { list.elements(of: $0, upTo: Self.chainLimit) } ?? []
    }
}
