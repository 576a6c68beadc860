import DefaultsClient
import Foundation

// The titles of the books that somebody owns.
//
//     BooksOwned                     lists them, with their rows
//     BooksOwned add "Dune"          adds one
//     BooksOwned delete 1            deletes that of a row

extension DefaultsKeys {
    static let titles = DefaultsKey<[String]>("Titles", default: [])
}

/// What the user is to do otherwise.
struct Refusal: Error {
    let message: String
}

/// A list of titles, which several windows or programs may change at a time.
struct BookList {
    let defaults = Defaults(domain: "org.example.BooksOwned")

    var titles: [String] { defaults[.titles] }

    func add(_ title: String) async throws {
        let title = title.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !title.isEmpty else { throw Refusal(message: "Enter the title of the book.") }
        try await defaults.update(.titles) { $0.append(title) }
    }

    /// - Parameter row: The first is 1.
    func delete(row: Int) async throws {
        try await defaults.update(.titles) { titles in
            guard titles.indices.contains(row - 1) else {
                throw Refusal(message: "There is no row \(row).")
            }
            titles.remove(at: row - 1)
        }
    }
}

let list = BookList()
let words = Array(CommandLine.arguments.dropFirst())

do {
    switch (words.first, words.dropFirst().first) {
    case (nil, _):
        for (row, title) in list.titles.enumerated() { print("\(row + 1). \(title)") }
    case ("add", let title?):
        try await list.add(title)
    case ("delete", let row?):
        try await list.delete(row: Int(row) ?? 0)
    default:
        throw Refusal(message: "usage: BooksOwned [add TITLE | delete ROW]")
    }
} catch {
    print((error as? Refusal)?.message ?? "The books were not changed: \(error)")
    exit(1)
}
