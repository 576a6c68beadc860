import DBus
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ToolHarness

/// Backups that are damaged, or old; see ``BackupTests``.
@Suite(.inSession) struct RestoringTests {
    let session = TestSession.current

    @Test func `A damaged row of a backup costs that key, and a damaged backup changes nothing`()
        async throws
    {
        for key in ["Bad", "Good", "Third"] {
            try await session.set("org.example.App", key, .int64(1))
        }
        let name = try await session.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        let path = "\(session.backupsPath)/\(name).db"
        _ = try session.query(
            "UPDATE entries SET archive = x'ff' WHERE key = 'Bad'", ofBackup: name)
        for key in ["Bad", "Good", "Third", "Added"] {
            try await session.set("org.example.App", key, .int64(2))
        }
        let restored = try await session.tool("backup", "restore", name).requireOutput()
        #expect(
            restored.contains("\(name): 2 keys set, 0 removed\n1 value in the backup is damaged"))
        #expect(
            await session.tool("read", "org.example.App").output
                == "{\n    Added = 2;\n    Bad = 2;\n    Good = 1;\n    Third = 1;\n}\n")

        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.truncate(atOffset: file.seekToEnd() - 4096)
        try file.close()
        let refused = await session.tool("backup", "restore", name)
        #expect(refused.status == 1)
        #expect(refused.error.contains("\(name) is damaged, and nothing of it was restored"))
        try "text\n".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(await session.tool("backup", "restore", name).status == 1)
        #expect(
            await session.tool("read", "org.example.App").output
                == "{\n    Added = 2;\n    Bad = 2;\n    Good = 1;\n    Third = 1;\n}\n")
    }

    @Test func `The oldest backup can be restored although another is made to undo it`()
        async throws
    {
        for number in 1...7 {
            await session.tool("write", "org.example.App", "Key", "-int", "\(number)")
            #expect(await session.tool("backup", "now").status == 0)
        }
        let oldest = try session.backupNames("program")[0]
        #expect(oldest.hasSuffix("-2-program"))
        #expect(await session.tool("backup", "restore", oldest).status == 0)
        #expect(await session.tool("read", "org.example.App", "Key").output == "1\n")
        #expect(try session.backupNames("program").contains(oldest))
    }
}
