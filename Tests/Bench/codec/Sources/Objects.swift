import Foundation

/// The same as ``Options`` for Foundation's archiver.
final class OptionsObject: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let playsSound: Bool
    let showsHints: Bool

    init(_ options: Options) {
        playsSound = options.playsSound
        showsHints = options.showsHints
    }

    init?(coder: NSCoder) {
        playsSound = coder.decodeBool(forKey: "playsSound")
        showsHints = coder.decodeBool(forKey: "showsHints")
    }

    func encode(with coder: NSCoder) {
        coder.encode(playsSound, forKey: "playsSound")
        coder.encode(showsHints, forKey: "showsHints")
    }
}

/// The same as ``Book`` for Foundation's archiver.
final class BookObject: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    let title: String
    let author: String
    let pageCount: Int
    let categories: [String]
    let available: Bool

    init(_ book: Book) {
        title = book.title
        author = book.author
        pageCount = book.pageCount
        categories = book.categories
        available = book.available
    }

    init?(coder: NSCoder) {
        guard
            let title = coder.decodeObject(of: NSString.self, forKey: "title"),
            let author = coder.decodeObject(of: NSString.self, forKey: "author"),
            let categories = coder.decodeObject(
                of: [NSArray.self, NSString.self], forKey: "categories") as? [String]
        else { return nil }
        self.title = title as String
        self.author = author as String
        pageCount = coder.decodeInteger(forKey: "pageCount")
        self.categories = categories
        available = coder.decodeBool(forKey: "available")
    }

    func encode(with coder: NSCoder) {
        coder.encode(title as NSString, forKey: "title")
        coder.encode(author as NSString, forKey: "author")
        coder.encode(pageCount, forKey: "pageCount")
        coder.encode(categories as NSArray, forKey: "categories")
        coder.encode(available, forKey: "available")
    }
}

/// Foundation's archiver and unarchiver.
enum Foundations {
    static func encode(_ object: NSObject) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    static func decode(_ data: Data) throws -> Any? {
        try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSString.self, OptionsObject.self, BookObject.self],
            from: data)
    }
}
