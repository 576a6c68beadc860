import TestSupport
import Testing

/// The program of the books that somebody owns.
@Suite(.serialized) struct BooksOwnedTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func list() throws -> String { try desktop.example("BooksOwned").requireOutput() }

    @Test func `Titles are added without the space around them, and are there at the next start`()
        throws
    {
        #expect(try list() == "")
        try desktop.example("BooksOwned", "add", "  Dune \n").requireOutput()
        try desktop.example("BooksOwned", "add", "The Hobbit").requireOutput()
        #expect(try list() == "1. Dune\n2. The Hobbit\n")
    }

    @Test(arguments: ["", " ", " \t\n\u{A0}"])
    func `An empty title is refused with a message`(_ title: String) throws {
        try desktop.example("BooksOwned", "add", "Dune").requireOutput()
        let result = desktop.example("BooksOwned", "add", title)
        #expect(result.status == 1)
        #expect(result.output == "Enter the title of the book.\n")
        #expect(try list() == "1. Dune\n")
    }

    @Test func `A row is deleted, and those below it move up`() throws {
        for title in ["Dune", "Emma", "The Hobbit"] {
            try desktop.example("BooksOwned", "add", title).requireOutput()
        }
        try desktop.example("BooksOwned", "delete", "2").requireOutput()
        #expect(try list() == "1. Dune\n2. The Hobbit\n")
        for row in ["0", "3", "-1", "two"] {
            let result = desktop.example("BooksOwned", "delete", row)
            #expect(result.status == 1)
            #expect(result.output.hasPrefix("There is no row"))
        }
        #expect(try list() == "1. Dune\n2. The Hobbit\n")
    }

    @Test func `Without a bus no book is added, and that is said`() throws {
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(desktop.directory.path)/no-bus"
        let program = Desktop.builtProgram("BooksOwned")
        let result = desktop.run([program, "add", "Dune"], environment: environment)
        #expect(result.status == 1)
        #expect(result.output.hasPrefix("The books were not changed: The defaults service cannot"))
        #expect(desktop.run([program], environment: environment).status == 0)
        #expect(try list() == "")
    }

    @Test func `Programs that add at the same time lose none of the titles`() throws {
        let count = 10
        let programs = try (0..<count).map {
            try desktop.start(Desktop.builtProgram("BooksOwned"), "add", "Book \($0)")
        }
        for program in programs { #expect(program.waitUntilExit() == 0) }
        let titles = try list().split(separator: "\n").map { $0.split(separator: ". ")[1] }
        #expect(titles.sorted() == (0..<count).map { "Book \($0)" })
    }
}
