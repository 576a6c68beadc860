import DefaultsClient
import ExampleSupport

// The titles of the books that somebody owns: a list that is made at the first start.

let usage = """
    usage: BooksOwned              lists the books with their rows
           BooksOwned add TITLE    adds a book
           BooksOwned delete ROW   deletes the book of a row
           BooksOwned load FILE    replaces all by those of a file
           BooksOwned save FILE    writes all of them into a file
    """

func tellSaved(_ titles: [String]) {
    print("Saved. The list has \(titles.count) \(titles.count == 1 ? "book" : "books").")
}

await runProgram(usage: usage) { words in
    // Titles are free text, and not options such as `-Titles VALUE`.
    let list = BookList(defaults: Defaults(domain: "org.example.BooksOwned", arguments: []))
    /// The list, which is there when it is used.
    func ready() async throws -> BookList {
        try list.defaults.requireService()
        try await list.makeAtFirstStart()
        return list
    }
    switch (words.first, words.count) {
    case (nil, _):
        for (row, title) in try await ready().titles.enumerated() { print("\(row + 1). \(title)") }
    case ("add", 2): tellSaved(try await ready().add(words[1]))
    case ("delete", 2): tellSaved(try await ready().delete(row: words[1]))
    case ("load", 2): tellSaved(try await ready().load(from: words[1]))
    case ("save", 2): try await ready().save(to: words[1])
    default: throw WrongUsage()
    }
}
