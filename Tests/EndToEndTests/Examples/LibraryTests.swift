import Foundation
import TestSupport
import TestTiers
import Testing

/// The program of a library, whose books are a value of the defaults and an archive in a file.
@Suite(.startsPrograms, .serialized) struct LibraryTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func list() throws -> String { try desktop.example("Library").requireOutput() }

    private static let emma = "Emma by Jane Austen, 474 pages, classic and novel, "

    private func addEmma() throws {
        try desktop.example(
            "Library", "add", "Emma", "Jane Austen", "474", "novel", "classic", "novel"
        ).requireOutput()
    }

    @Test func `Books with their categories are there at the next start`() throws {
        #expect(try list() == "")
        try addEmma()
        #expect(try list() == Self.emma + "available\n")
        try desktop.example("Library", "lend", "Emma").requireOutput()
        #expect(try list() == Self.emma + "lent\n")
    }

    @Test func `Categories are a set for other programs`() throws {
        try addEmma()
        let path = "org.example.Library"
        #expect(
            try desktop.tool("read", path, "Books", "--json").requireOutput()
                == #"[{"$class":"Book","author":"Jane Austen","available":true,"#
                + #""categories":{"$class":"NSSet","NS.objects":["classic","novel"]},"#
                + #""pageCount":474,"title":"Emma"}]"# + "\n")
    }

    @Test func `The archive in a file is the value of the defaults`() throws {
        let file = desktop.directory.path + "/library"
        try addEmma()
        try desktop.example("Library", "lend", "Emma").requireOutput()
        try desktop.example("Library", "save", file).requireOutput()
        let value = try desktop.tool("read", "org.example.Library", "Books", "--json")
            .requireOutput()
        #expect(try desktop.tool("inspect", "--json", file).requireOutput() == value)
        desktop.tool("delete", "org.example.Library", "Books")
        #expect(try list() == "")
        try desktop.example("Library", "load", file).requireOutput()
        #expect(try list() == Self.emma + "lent\n")
    }

    @Test(arguments: ["/nonexistent/file", "/", ""])
    func `A file that cannot be read or written is an error with the reason`(_ path: String) throws
    {
        try addEmma()
        for verb in ["load", "save"] {
            let result = desktop.example("Library", verb, path)
            #expect(result.status == 1)
            #expect(result.error.hasPrefix("Library: The file \"\(path)\" cannot be "))
            #expect(result.error.hasSuffix(".\n"))
        }
        #expect(try list() == Self.emma + "available\n")
    }

    @Test func `A file that is not a list of books is an error, and the books stay`() throws {
        try addEmma()
        let file = try desktop.directory.write("hello", to: "hello")
        for contents in [
            #""text""#, "[1]", #"[{"$class":"Book"}]"#, #"[{"$class":"Magazine"}]"#,
            #"[{"$class":"LibraryCard","pin":"1234"}]"#, #"[{"$class":"NSAttributedString"}]"#,
        ] {
            try desktop.tool("write", "org.example.Other", "Key", "--json", contents)
                .requireOutput()
            let archive = try desktop.storedArchive(in: "org.example.Other", "Key")
            for file in [file, archive] {
                let result = desktop.example("Library", "load", file)
                #expect(result.status == 1)
                #expect(
                    result.error.hasPrefix("Library: The file \"\(file)\" is not a list of books. ")
                )
                #expect(result.error.hasSuffix(" Nothing was changed.\n"))
            }
        }
        #expect(try list() == Self.emma + "available\n")
    }

    @Test(arguments: ["abc", "0", "-1", "1.5", "", "99999999999999999999"])
    func `An invalid number of pages is refused, and no book is added`(_ pages: String) throws {
        let result = desktop.example("Library", "add", "Emma", "Jane Austen", pages)
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("Library: \"\(pages)\" is not a number of pages."))
        #expect(try list() == "")
    }

    @Test func `A missing book, or one that is lent already, is an error`() throws {
        #expect(desktop.example("Library", "lend", "Emma").error.contains("There is no book"))
        try addEmma()
        #expect(desktop.example("Library", "return", "Emma").error.contains("is available already"))
        try desktop.example("Library", "lend", "Emma").requireOutput()
        let result = desktop.example("Library", "lend", "Emma")
        #expect(result.status == 1)
        #expect(result.error == "Library: \"Emma\" is lent already.\n")
        try desktop.example("Library", "return", "Emma").requireOutput()
        #expect(try list() == Self.emma + "available\n")
    }

    @Test func `A field that a later version renamed, removed or added does not matter`() throws {
        try desktop.tool(
            "write", "org.example.Library", "Books", "--json",
            #"[{"$class":"Book","title":"Emma","author":"Jane Austen","pages":474,"#
                + #""publisher":"John Murray","categories":["novel","classic"]},"#
                + #"{"$class":"Book","title":"Walden"}]"#
        ).requireOutput()
        #expect(try list() == Self.emma + "available\nWalden, available\n")
        try desktop.example("Library", "lend", "Emma").requireOutput()
        #expect(try list() == Self.emma + "lent\nWalden, available\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `The books of a program with GNUstep are read, and the reverse`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("Library", "load", tutorials.file("books")).requireOutput()
        #expect(
            try list() == Self.emma
                + "available\nPersuasion by Jane Austen, 474 pages, lent\n")
        try desktop.example("Library", "lend", "Emma").requireOutput()
        let file = desktop.directory.path + "/library"
        try desktop.example("Library", "save", file).requireOutput()
        #expect(
            try tutorials.read(file)
                == "Book(Emma Jane Austen 474 classic+novel 0)\n"
                + "Book(Persuasion Jane Austen 474  0)\n")
    }

    @Test(.enabled(if: Tutorials.canRun, "gobjc and libgnustep-base-dev are not installed"))
    func `Books in XML are loaded, and a file without books is an error`() throws {
        let tutorials = try Tutorials.shared.get()
        try desktop.example("Library", "load", tutorials.file("books.xml")).requireOutput()
        let books = try list()
        #expect(books == Self.emma + "available\nPersuasion by Jane Austen, 474 pages, lent\n")
        let result = desktop.example("Library", "load", tutorials.file("empty-list"))
        #expect(result.status == 1)
        #expect(result.error.hasSuffix("\" has no books. Nothing was changed.\n"), "\(result)")
        #expect(try list() == books)
    }

    @Test func `Without a keyring the PIN of the card is not kept, and an error says so`() throws {
        for words in [["card"], ["card", "keep"], ["card", "forget"]] {
            var environment = desktop.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
            let result = desktop.run(
                [Desktop.builtProgram("Library")] + words, environment: environment, input: "1234\n"
            )
            #expect(result.status == 1)
            #expect(
                result.error.contains("Library: The secret 'CardPIN' of 'org.example.Library' "))
        }
        #expect(desktop.tool("keys", "org.example.Library").output == "")
    }

    @Test func `A card cannot be archived, even without a keyring`() {
        let result = desktop.run(
            [Desktop.builtProgram("Library"), "card", "archive"],
            environment: desktop.environmentWithoutBus)
        #expect(result.status == 1)
        #expect(result.error.contains("LibraryCard' cannot be coded: "), "\(result)")
    }

    @Test func `A file to load that is not a regular file or has no name is refused`() {
        let device = desktop.example("Library", "load", "/dev/null")
        #expect(
            device.error
                == "Library: The file \"/dev/null\" cannot be read: it is not a regular file.\n")
        let none = desktop.example("Library", "load", "")
        #expect(none.error.contains("cannot be read: its name is empty."), "\(none)")
    }

    private static let canRunKeyring =
        ProgramResult.run(["gnome-keyring-daemon", "--version"]).status == 0

    @Test(.enabled(if: canRunKeyring, "gnome-keyring-daemon does not work here"))
    func `The keyring keeps the PIN of the card`() throws {
        let keyring = try desktop.start(
            "sh", "-c",
            "printf swordfish | exec gnome-keyring-daemon --foreground --components=secrets --unlock"
        )
        defer { keyring.send(SIGTERM) }
        try wait { try desktop.askBus("NameHasOwner", "org.freedesktop.secrets") == "(true,)\n" }
        #expect(try desktop.example("Library", "card").requireOutput() == "No PIN is kept.\n")
        let program = Desktop.builtProgram("Library")
        try desktop.run([program, "card", "keep"], input: "1234\n").requireOutput()
        #expect(try desktop.example("Library", "card").requireOutput() == "The PIN is kept.\n")
        #expect(desktop.tool("keys", "org.example.Library").output == "")

        try desktop.example("Library", "card", "forget").requireOutput()
        #expect(try desktop.example("Library", "card").requireOutput() == "No PIN is kept.\n")
    }

    @Test(arguments: ["", "12", "12a4", "１２３４"])
    func `An invalid PIN is refused`(_ pin: String) {
        let result = desktop.run(
            [Desktop.builtProgram("Library"), "card", "keep"], input: pin + "\n")
        #expect(result.status == 1)
        #expect(result.error == "Library: A PIN has 4 digits or more. Enter the PIN of the card.\n")
    }

    /// An archive as the first version of the program wrote it, by plistlib: without `available`.
    private static let oldArchive = """
        import plistlib, sys
        from plistlib import UID
        sys.stdout.buffer.write(plistlib.dumps({
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": UID(1)},
            "$objects": [
                "$null",
                {"$class": UID(2), "NS.objects": [UID(3)]},
                {"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]},
                {"$class": UID(4), "title": UID(5), "author": UID(6), "pageCount": 474,
                 "categories": UID(7)},
                {"$classname": "Book", "$classes": ["Book", "NSObject"]},
                "Emma", "Jane Austen",
                {"$class": UID(8), "NS.objects": [UID(9), UID(10)]},
                {"$classname": "NSSet", "$classes": ["NSSet", "NSObject"]},
                "novel", "classic",
            ]}, fmt=plistlib.FMT_BINARY))
        """

    @Test func `An old archive without the newest field is read, from a file and as a value`()
        throws
    {
        let file = desktop.directory.path + "/old"
        try desktop.run(
            "sh", "-c", "/usr/bin/python3 -c \"$1\" > \"$2\"", "sh", Self.oldArchive, file
        ).requireOutput()
        try desktop.example("Library", "load", file).requireOutput()
        #expect(try list() == Self.emma + "available\n")

        desktop.tool("delete", "org.example.Library", "Books")
        try desktop.python(
            """
            import sys
            from gi.repository import Gio, GLib
            service = Gio.DBusProxy.new_for_bus_sync(
                Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None, "org.defaultsd.Defaults1",
                "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1")
            with open(sys.argv[1], "rb") as file:
                service.Set("(ssay)", "org.example.Library", "Books", file.read())
            """, file
        ).requireOutput()
        #expect(try list() == Self.emma + "available\n")
        // It is written with the field when it is changed.
        try desktop.example("Library", "lend", "Emma").requireOutput()
        #expect(try list() == Self.emma + "lent\n")
    }
}
