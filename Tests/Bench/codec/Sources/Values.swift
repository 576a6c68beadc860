/// What an app stores: the options of a game.
struct Options: Codable {
    var playsSound = true
    var showsHints = false
}

/// What an app stores a thousand of.
struct Book: Codable {
    var title: String
    var author: String
    var pageCount: Int
    var categories: [String]
    var available: Bool

    /// Books that differ in their titles, with fewer authors and categories than books.
    static let library = (0..<1000).map { number in
        Book(
            title: "The Book of Number \(number)", author: "Author \(number % 100)",
            pageCount: 100 + number, categories: ["Category \(number % 10)", "Novel"],
            available: number % 3 > 0)
    }
}
