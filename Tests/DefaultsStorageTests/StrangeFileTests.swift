import Foundation
import Testing

@testable import DefaultsStorage

/// What bears the names of the store's files and is no file.
@Suite struct StrangeFileTests {
    @Test(
        "A pipe or a directory in place of a file is refused at once",
        arguments: ["defaults.db", "defaults.db-wal"], [true, false])
    func refused(_ name: String, _ isPipe: Bool) async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        database.close()
        let path = "\(scratch.location.directory)/\(name)"
        try? FileManager.default.removeItem(atPath: path)
        if isPipe {
            try #require(mkfifo(path, 0o600) == 0)
        } else {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .cannotOpen)
    }
}
