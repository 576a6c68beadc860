import DefaultsClient
import ExampleSupport

// The books of a library, in the defaults and in files; and the card of the user, in the keyring.

let usage = """
    usage: Library                                     lists the books
           Library add TITLE AUTHOR PAGES CATEGORY...  adds one
           Library lend TITLE                          notes that somebody has borrowed one
           Library return TITLE                        notes that it is back
           Library save FILE                           writes all of them into a file
           Library load FILE                           replaces them by those of a file
           Library card                                says whether the PIN of the card is kept
           Library card keep                           reads a PIN, and keeps it in the keyring
           Library card forget                         removes it from there
           Library card archive                        tries to archive the card, which is refused
    """

await runProgram(usage: usage) { words in
    // Titles are free text, and not options such as `-Books VALUE`.
    let catalogue = Catalogue(defaults: Defaults(domain: "org.example.Library", arguments: []))
    func ready() throws -> Catalogue {
        try catalogue.defaults.requireService()
        return catalogue
    }
    switch (words.first, words.count) {
    case (nil, _): list(try ready().books)
    case ("add", 4...):
        try await ready().add(
            words[1], by: words[2], pages: words[3], categories: Set(words.dropFirst(4)))
    case ("lend", 2): try await ready().setAvailable(false, words[1])
    case ("return", 2): try await ready().setAvailable(true, words[1])
    case ("save", 2): try ready().save(to: words[1])
    case ("load", 2): try await ready().load(from: words[1])
    case ("card", _): try await manageCard(words.dropFirst())
    default: throw WrongUsage()
    }
}

@MainActor func list(_ books: [Book]) {
    for book in books {
        let categories = book.categories.sorted().joined(separator: " and ")
        let facts = [
            book.title + (book.author.isEmpty ? "" : " by \(book.author)"),
            book.pageCount > 0 ? "\(book.pageCount) pages" : "", categories,
            book.available ? "available" : "lent",
        ]
        print(facts.filter { !$0.isEmpty }.joined(separator: ", "))
    }
}

@MainActor func manageCard(_ words: ArraySlice<String>) async throws {
    let holder = CardHolder()
    switch words {
    case []: print(try await holder.hasCard ? "The PIN is kept." : "No PIN is kept.")
    case ["keep"]:
        // Not a word of the command line, which other programs can see.
        try await holder.keep(LibraryCard(pin: readLine() ?? ""))
    case ["forget"]: try await holder.forget()
    case ["archive"]: _ = try CardHolder.archive()
    default: throw WrongUsage()
    }
}
