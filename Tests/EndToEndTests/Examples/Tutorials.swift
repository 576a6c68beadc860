import Foundation
import TestSupport

/// The programs of the tutorials that the examples come from: their classes in Objective-C, archived
/// by GNUstep.
struct Tutorials {
    /// Whether an Objective-C compiler and GNUstep are here.
    static let canRun =
        ProgramResult.run(
            ["sh", "-c", "gnustep-config --base-libs && gcc -x objective-c -E /dev/null"]
        ).status == 0

    /// The program, which is compiled once.
    static let shared = Result { try Tutorials() }

    /// Its owner is the list of shared directories, which removes it at the end.
    private let directory: String
    private var program: String { directory + "/tutorials" }

    /// Compiles the program and has it write its archives.
    private init() throws {
        directory = try TemporaryDirectory.shared().path
        let source = Desktop.packageDirectory + "Tests/GNUstep/tutorials.m"
        let command =
            "gcc $(gnustep-config --objc-flags) -o \"$0\" \"$1\" $(gnustep-config --base-libs)"
        try ProgramResult.run(
            ["sh", "-c", "cd \"$2\" && \(command)", program, source, directory]
        ).requireOutput()
        try ProgramResult.run([program, "write", directory]).requireOutput()
    }

    /// The file of an archive that the program has written.
    func file(_ name: String) -> String { directory + "/" + name }

    /// What the program reads in an archive: its objects, one a line.
    func read(_ file: String) throws -> String {
        try ProgramResult.run([program, "read", file]).requireOutput()
    }

    /// The objects of the collection in an archive, after the program has added one.
    func add(to file: String) throws -> String {
        try ProgramResult.run([program, "add", file]).requireOutput()
    }
}

extension Desktop {
    private static let connecting = """
        import sys
        from gi.repository import Gio, GLib
        service = Gio.DBusProxy.new_for_bus_sync(
            Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, None, "org.defaultsd.Defaults1",
            "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1")

        """

    /// Stores the archive of a file as the value of a key.
    func store(_ file: String, in domain: String, _ key: String) throws {
        try python(
            Self.connecting
                + "service.Set('(ssay)', sys.argv[1], sys.argv[2], open(sys.argv[3], 'rb').read())",
            domain, key, file
        ).requireOutput()
    }

    /// Writes the archive of a value into a file.
    ///
    /// - Returns: The file.
    func storedArchive(in domain: String, _ key: String) throws -> String {
        let file = directory.path + "/stored"
        try python(
            Self.connecting
                + """
                answer = service.call_sync(
                    "Get", GLib.Variant("(ss)", (sys.argv[1], sys.argv[2])), 0, -1, None)
                open(sys.argv[3], "wb").write(answer.get_child_value(0).get_data_as_bytes().get_data())
                """,
            domain, key, file
        ).requireOutput()
        return file
    }
}
