import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation

/// A book of a library: an object of NSSecureCoding.
final class Book: NSObject, NSSecureCoding, ArchiveNamed {
    static var supportsSecureCoding: Bool { true }
    /// Programs in Objective-C find the class by this name, and not by `Library.Book`.
    static let archiveClassName = "Book"

    let title: String
    let author: String
    let pageCount: Int
    let categories: Set<String>
    /// Whether nobody has borrowed it.
    var available = true

    init(title: String, author: String, pageCount: Int, categories: Set<String>) {
        self.title = title
        self.author = author
        self.pageCount = pageCount
        self.categories = categories
    }

    /// Reads a book of any version of the program.
    ///
    /// - The first version had no field `available`: a book is available then.
    /// - It called `pageCount` `pages`. The old name is read if the new one is missing.
    /// - It had a field `publisher`, which is not read any more.
    /// - A later version may have removed any field but the title.
    init?(coder: NSCoder) {
        guard let title = coder.decodeObject(of: NSString.self, forKey: "title") else {
            coder.failWithError(Refusal("A book has no title."))
            return nil
        }
        self.title = String(describing: title)
        let author = coder.decodeObject(of: NSString.self, forKey: "author")
        self.author = author.map(String.init(describing:)) ?? ""
        let hasNewName = coder.containsValue(forKey: "pageCount")
        pageCount = coder.decodeInteger(forKey: hasNewName ? "pageCount" : "pages")
        let categories = coder.decodeObject(
            of: [NSSet.self, NSArray.self, NSString.self], forKey: "categories")
        let list = (categories as? NSSet)?.allObjects ?? categories as? [Any]
        self.categories = Set(list?.compactMap { $0 as? String } ?? [])
        if coder.containsValue(forKey: "available") {
            available = coder.decodeBool(forKey: "available")
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "title")
        coder.encode(author, forKey: "author")
        coder.encode(pageCount, forKey: "pageCount")
        coder.encode(categories, forKey: "categories")
        coder.encode(available, forKey: "available")
    }
}

extension AnyDefaultsKey {
    static let books = DefaultsKey("Books", ofArrayOf: Book.self)
}

extension ValueCoding where Value == [Book] {
    /// An NSArray of books, in files as in the defaults.
    static var books: ValueCoding { .array(of: .object(ofClass: Book.self)) }
}
