import Glibc
import TestSupport
import TestTiers
import Testing

/// The program of the books that somebody owns.
@Suite(.startsPrograms, .serialized) struct BooksOwnedTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func list() throws -> String { try desktop.example("BooksOwned").requireOutput() }

    private func add(_ titles: String...) throws {
        for title in titles { try desktop.example("BooksOwned", "add", title).requireOutput() }
    }

    @Test func `The list is made at the first start, without invented books`() throws {
        #expect(try list() == "")
        #expect(
            try desktop.tool("read", "org.example.BooksOwned", "Titles", "--json").requireOutput()
                == "[]\n")
        #expect(try list() == "")
    }

    @Test func `The first books of an administrator are in the list, until they are deleted`()
        throws
    {
        try desktop.write(
            #"{"Titles": ["Dune"]}"#, to: "org.example.BooksOwned.json", in: .recommended)
        #expect(try list() == "1. Dune\n")
        try desktop.example("BooksOwned", "delete", "1").requireOutput()
        #expect(try list() == "")
    }

    @Test func `A managed list is shown, and not made`() throws {
        try desktop.write(
            #"{"Titles": ["Dune"]}"#, to: "org.example.BooksOwned.json", in: .managed)
        #expect(try list() == "1. Dune\n")
    }

    @Test
    func `Titles are added without the space around them, and a message says that it is saved`()
        throws
    {
        let result = desktop.example("BooksOwned", "add", "  Dune \n")
        #expect(try result.requireOutput() == "Saved. The list has 1 book.\n")
        let second = desktop.example("BooksOwned", "add", "\tEmma")
        #expect(try second.requireOutput() == "Saved. The list has 2 books.\n")
        #expect(try list() == "1. Dune\n2. Emma\n")
    }

    @Test(arguments: ["", " ", " \t\n\u{A0}"])
    func `An empty title is refused with a message`(_ title: String) throws {
        try add("Emma")
        let before = try list()
        let result = desktop.example("BooksOwned", "add", title)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(
            result.error == "BooksOwned: The title is empty. Enter the title of the book.\n")
        #expect(try list() == before)
    }

    @Test func `A row is deleted, and those below it move up`() throws {
        try add("Emma", "Moby-Dick", "The Hobbit")
        let result = desktop.example("BooksOwned", "delete", "2")
        #expect(try result.requireOutput() == "Saved. The list has 2 books.\n")
        #expect(try list() == "1. Emma\n2. The Hobbit\n")
        for row in ["0", "3", "-1", "two", "99999999999999999999"] {
            let result = desktop.example("BooksOwned", "delete", row)
            #expect(result.status == 1)
            #expect(result.error.hasPrefix("BooksOwned: There is no row \"\(row)\"."))
        }
        #expect(try list() == "1. Emma\n2. The Hobbit\n")
        for _ in 1...2 { try desktop.example("BooksOwned", "delete", "1").requireOutput() }
        #expect(
            desktop.example("BooksOwned", "delete", "1").error
                == "BooksOwned: There is no row \"1\": the list is empty.\n")
    }

    @Test(
        .enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"),
        arguments: ["titles", "titles.xml"])
    func `The file of a program with GNUstep is loaded, and saved for it`(_ name: String) throws {
        let tutorials = try Tutorials.shared.get()
        let result = desktop.example("BooksOwned", "load", tutorials.file(name))
        #expect(try result.requireOutput() == "Saved. The list has 2 books.\n")
        #expect(try list() == "1. Dune\n2. Emma\n")
        let file = desktop.directory.path + "/titles"
        try desktop.example("BooksOwned", "save", file).requireOutput()
        #expect(try tutorials.add(to: file) == "Dune\nEmma\nPersuasion\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `A file without titles is an error, and the list stays`() throws {
        let tutorials = try Tutorials.shared.get()
        try add("Walden")
        let empty = desktop.example("BooksOwned", "load", tutorials.file("empty-list"))
        #expect(empty.status == 1)
        #expect(empty.error.hasSuffix("\" has no titles. Nothing was changed.\n"), "\(empty)")
        let books = desktop.example("BooksOwned", "load", tutorials.file("books"))
        #expect(books.status == 1)
        #expect(books.error.contains("\" is not a list of titles. "), "\(books)")
        #expect(try list() == "1. Walden\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `The titles of a program with GNUstep are read, and the reverse`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.store(tutorials.file("titles"), in: "org.example.BooksOwned", "Titles")
        #expect(try list() == "1. Dune\n2. Emma\n")
        try desktop.example("BooksOwned", "add", "Walden").requireOutput()
        let stored = try desktop.storedArchive(in: "org.example.BooksOwned", "Titles")
        #expect(try tutorials.read(stored) == "Dune\nEmma\nWalden\n")
    }

    @Test func `A list of another type is an error in words for the user`() {
        desktop.tool("write", "org.example.BooksOwned", "Titles", "-string", "Emma")
        for words in [[], ["add", "Dune"], ["delete", "1"]] {
            let result = desktop.run([Desktop.builtProgram("BooksOwned")] + words)
            #expect(result.status == 1)
            #expect(
                result.error
                    == "BooksOwned: The stored value cannot be read, and was not changed. It is of another "
                    + "type than this program stores. `defaultsctl read` shows it, and `defaultsctl "
                    + "delete` removes it.\n")
        }
    }

    /// On a busy machine a start takes as long as it takes.
    @Test func `A program waits for the service while the bus starts it`() throws {
        let directory = try TemporaryDirectory()
        let gate = try directory.write("", to: "gate")
        let held = open(gate, O_RDONLY | O_CLOEXEC)
        try #require(held >= 0 && flock(held, LOCK_EX) == 0)
        let desktop = try Desktop(launcher: "flock --no-fork \(gate)")
        let program = try desktop.start(Desktop.builtProgram("BooksOwned"), "add", "Dune")
        // Longer than it waits for a service that runs and does not answer.
        sleep(3)
        close(held)
        try program.requireSuccess()
        #expect(try desktop.example("BooksOwned").requireOutput() == "1. Dune\n")
    }

    @Test func `Programs that add at the same time lose none of the titles`() throws {
        let count = 10
        let programs = try (0..<count).map {
            try desktop.start(Desktop.builtProgram("BooksOwned"), "add", "Book \($0)")
        }
        for program in programs {
            #expect(throws: Never.self) { try program.requireSuccess() }
        }
        let titles = try list().split(separator: "\n").map { $0.split(separator: ". ")[1] }
        #expect(titles.sorted() == (0..<count).map { "Book \($0)" })
    }
}
