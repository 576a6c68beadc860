import Foundation

/// The path of a file in a directory of its own, removed at the end.
final class ScratchFile {
    let path: String
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("sqlite-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appendingPathComponent("test.db").path
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    /// What Python's sqlite3 module, a SQLite of its own process, prints for a program that finds
    /// the path in `path`.
    func python(_ program: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "/usr/bin/python3", "-c", "import sqlite3, sys\npath = sys.argv[1]\n" + program, path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
