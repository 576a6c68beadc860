import DefaultsClient
import DefaultsFoundation
import ExampleSupport
import Foundation
import KeyedArchive

/// The books of the library: in the defaults and, as the same archive, in files.
struct Catalogue {
    let defaults: Defaults

    /// - Throws: Why what is stored cannot be read.
    var books: [Book] { get throws { try defaults.value(of: .books) } }

    func add(_ title: String, by author: String, pages: String, categories: Set<String>)
        async throws
    {
        guard title.contains(where: { !$0.isWhitespace }) else {
            throw Refusal("The title is empty. Enter the title of the book.")
        }
        guard let pageCount = Int(pages), pageCount > 0 else {
            throw Refusal(
                "\"\(pages)\" is not a number of pages. Enter a whole number above 0, such as 474.")
        }
        try await change {
            $0.append(
                Book(title: title, author: author, pageCount: pageCount, categories: categories))
        }
    }

    /// Changes the books as they are now, and returns when they are stored.
    private func change(_ body: (inout [Book]) throws -> Void) async throws {
        // If they cannot be read, this says more than the update would.
        _ = try books
        try await defaults.update(.books, body)
    }

    /// Notes that somebody has borrowed a book, or has returned it.
    func setAvailable(_ isAvailable: Bool, _ title: String) async throws {
        try await change { books in
            let copies = books.filter { $0.title == title }
            guard !copies.isEmpty else {
                throw Refusal(
                    "There is no book \"\(title)\". `Library` lists the books.")
            }
            guard let book = copies.first(where: { $0.available != isAvailable }) else {
                throw Refusal("\"\(title)\" is \(isAvailable ? "available" : "lent") already.")
            }
            book.available = isAvailable
        }
    }

    /// Writes all books into a file.
    func save(to path: String) throws {
        let archive = try KeyedArchive(archiving: books)
        try write(archive.data, to: path)
    }

    /// Replaces all books by those of a file.
    ///
    /// If the file cannot be read, or has none, the books stay.
    func load(from path: String) async throws {
        let books = try ExampleSupport.load(
            "a list of books", from: path, ValueCoding.books.decode)
        guard !books.isEmpty else { throw nothing(of: "books", in: path) }
        try await defaults.transaction { $0[.books] = books }
    }
}
