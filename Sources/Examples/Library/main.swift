import DefaultsClient
import Foundation
import KeyedArchive

// The books of a library, in the defaults and, as the same archive, in a file.
//
//     Library                                         lists the books
//     Library add TITLE AUTHOR PAGES CATEGORY…        adds one
//     Library lend TITLE                              notes that somebody has borrowed one
//     Library save FILE                               writes all of them into a file
//     Library load FILE                               replaces them by those of a file

let defaults = Defaults(domain: "org.example.Library")
let words = Array(CommandLine.arguments.dropFirst())

switch (words.first, words.count) {
case (nil, _):
    for book in defaults[.books] {
        print(
            "\(book.title) by \(book.author), \(book.pageCount) pages, "
                + "\(book.categories.sorted().joined(separator: " and ")), "
                + (book.available ? "available" : "lent"))
    }
case ("add", 4...):
    let book = Book(
        title: words[1], author: words[2], pageCount: Int(words[3]) ?? 0,
        categories: Set(words.dropFirst(4)))
    try await defaults.update(.books) { $0.append(book) }
case ("lend", 2):
    try await defaults.update(.books) { books in
        for index in books.indices where books[index].title == words[1] {
            books[index].available = false
        }
    }
case ("save", 2):
    let archive = try KeyedArchiveEncoder().encode(defaults[.books])
    try Data(archive.bytes).write(to: URL(filePath: words[1]))
case ("load", 2):
    let bytes = try Data(contentsOf: URL(filePath: words[1]))
    let books = try KeyedArchiveDecoder().decode([Book].self, from: bytes)
    try await defaults.commit { $0[.books] = books }
default:
    print("usage: Library [add TITLE AUTHOR PAGES CATEGORY… | lend TITLE | save FILE | load FILE]")
}
