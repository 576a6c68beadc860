import TestSupport

/// The path of a database in a temporary directory, which is removed at the end.
final class ScratchFile {
    private let directory: TemporaryDirectory

    var path: String { "\(directory.path)/test.db" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs a Python program that finds the path in `path`, with a SQLite of its own.
    ///
    /// - Returns: What it prints.
    func python(_ program: String) throws -> String {
        let output = try Python.run(
            "import sqlite3, sys\npath = sys.argv[1]\n" + program, arguments: [path])
        return String(decoding: output, as: UTF8.self)
    }
}
