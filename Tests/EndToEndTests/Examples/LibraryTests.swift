import Foundation
import TestSupport
import Testing

/// The program of a library, whose books are a value of the defaults and an archive in a file.
@Suite(.serialized) struct LibraryTests {
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

    @Test func `Categories are a set to everybody else`() throws {
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
