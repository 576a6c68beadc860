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

        fileprivate init(_ name: Text) {
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

    /// The UID of the class record.
    let uid: UInt64
    /// Its name and those of its superclasses.
    let chain: [Text]
    let kind: Kind

    init(uid: UInt64, record: Fields, in archive: KeyedArchive) {
        let list = archive.list
        let name = list.text(of: archive.className(of: record))
        var chain = [name]
        if let classes = record["$classes", in: list],
            case .array(let references) = list.value(at: classes)
        {
            // A longer chain than any class has is not searched for each object's sake.
            for position in 0..<min(references.count, Self.chainLimit) {
                let next = list.text(at: list.element(position, of: references))
                if let next, next != name { chain.append(next) }
            }
        }
        self.uid = uid
        self.chain = chain
        kind = chain.lazy.map(Kind.init).first { $0 != .other } ?? .other
    }

    private static let chainLimit = 64
}
