import DefaultsClient

/// A book of a library.
struct Book: Codable, Hashable {
    var title: String
    var author: String
    var pageCount: Int
    var categories: Set<String>
    /// Whether nobody has borrowed it.
    ///
    /// The newest field: archives of earlier versions are without it.
    var available: Bool

    init(title: String, author: String, pageCount: Int, categories: Set<String>) {
        self.title = title
        self.author = author
        self.pageCount = pageCount
        self.categories = categories
        available = true
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        title = try fields.decode(String.self, forKey: .title)
        author = try fields.decode(String.self, forKey: .author)
        pageCount = try fields.decode(Int.self, forKey: .pageCount)
        categories = try fields.decode(Set<String>.self, forKey: .categories)
        available = try fields.decodeIfPresent(Bool.self, forKey: .available) ?? true
    }
}

extension DefaultsKeys {
    static let books = DefaultsKey<[Book]>("Books", default: [])
}
