import TestSupport
import TestTiers
import Testing

/// Archives whose references became dictionaries, as converters that do not know them leave them.
@Suite(.startsPrograms) struct SpelledReferenceImportTests {
    private let desktop: Desktop
    private static let app = "org.example.App"

    /// Writes an archive of a book with spelled references, a domain with it, and one with a dictionary that
    /// is not in an archive.
    private static let files = """
        import plistlib, sys
        uid = lambda number: {"CF$UID": number}
        archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": uid(1)},
            "$objects": ["$null", {"$class": uid(3), "title": uid(2)}, "Dune",
                         {"$classname": "Book", "$classes": ["Book", "NSObject"]}]}
        for name, contents in [("archive", archive), ("domain", {"Book": archive, "Number": 1}),
                               ("stray", {"Number": 2, "Stray": [{"CF$UID": 5}]})]:
            plistlib.dump(contents, open(f"{sys.argv[1]}/{name}", "wb"), fmt=plistlib.FMT_BINARY)
        """

    init() throws {
        desktop = try Desktop()
        try desktop.python(Self.files, desktop.directory.path).requireOutput()
    }

    private func file(_ name: String) -> String { "\(desktop.directory.path)/\(name)" }

    private let book = #"{"$class":"Book","title":"Dune"}"#

    @Test func `The service refuses them by every call that takes archives`() throws {
        let answers = try desktop.python(
            """
            import sys
            \(Desktop.pythonArchive)
            archive = open(sys.argv[1], "rb").read()
            def tried(method, *arguments):
                try:
                    service.call_sync(method, GLib.Variant(*arguments), 0, -1, None)
                    print("stored")
                except GLib.Error as error:
                    print("CF$UID" in error.message and "InvalidArchive" in error.message)
            app, options = "\(Self.app)", {}
            tried("Set", "(ssay)", (app, "Key", archive))
            tried("Apply", "(sa{say}asa{st}a{sv})", (app, {"Key": archive}, [], {}, options))
            """, file("archive")
        ).requireOutput()
        #expect(answers == "True\nTrue\n")
        #expect(desktop.tool("keys", Self.app).output == "")
    }
}
