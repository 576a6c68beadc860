import DBus
import DefaultsProtocol
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ServiceHarness
@testable import ToolHarness

/// Backups, as somebody at a shell and other programs see them.
///
/// Those that the tool makes are of the kind `program` here and not `manual`: the service knows the tool by
/// the file that its process runs.
@Suite(.inSession) struct BackupTests {
    let session = TestSession.current

    @Test func `Programs get backups in JSON, and an empty name is invalid`() async throws {
        func members(_ words: String...) async throws -> [String: Any] {
            let output = try await session.tool(["backup"] + words).requireOutput()
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
            return try #require(object as? [String: Any])
        }
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        let made = try await members("now", "--json")
        let name = try #require(made["name"] as? String)
        #expect(try session.backupNames("program") == [name] && made.count == 1)
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        let refused = await session.tool("backup", "restore", "")
        #expect(refused.status == 1)
        #expect(await session.tool("read", "org.example.App", "Key").output == "2\n")
        let restored = try await members("restore", "--json", name)
        #expect(restored["name"] as? String == name)
        #expect(restored["set"] as? Int == 1 && restored["removed"] as? Int == 0)
        #expect(restored["damaged"] as? Int == 0)
        let undo = try #require(restored["undo"] as? String)
        _ = try await members("restore", undo, "--json")
        #expect(await session.tool("read", "org.example.App", "Key").output == "2\n")
    }

    @Test func `backup now has everything that was acknowledged before it`() async throws {
        for number in 1...20 as ClosedRange<Int64> {
            try await session.set("org.example.App", "Key\(number)", .int64(number))
        }
        try await session.set("org.example.App@host", "Here", .int64(1))
        let name = try await session.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        #expect(name.hasSuffix("-22-program"))
        #expect(
            try session.query("SELECT count(*) FROM entries", ofBackup: name) == ["21"])
        #expect(try session.query("SELECT generation FROM state", ofBackup: name) == ["22"])
        #expect(try session.query("PRAGMA integrity_check", ofBackup: name) == ["ok"])
        #expect(try mode(of: session.backupsPath) == 0o700)
        #expect(try mode(of: "\(session.backupsPath)/\(name).db") == 0o600)
    }

    @Test func `list, status and the statistics show the backups, the newest first`() async throws {
        #expect(await session.tool("backup", "list").output == "")
        #expect(try await session.tool("status").requireOutput().contains(/backups +none\n/))
        for number in 1...2 {
            await session.tool("write", "org.example.App", "Key", "-int", "\(number)")
            await session.tool("backup", "now")
        }
        let lines = try await session.tool("backup", "list").requireOutput().split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines[0].contains(
                /^[-\dT]+Z-3-program  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  3  \d+  program$/))
        let generations = lines.map { $0.split(separator: "  ")[2] }
        #expect(generations == ["3", "2"])
        #expect(
            try await session.tool("status").requireOutput()
                .contains(/backups +2, the newest of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n/))
        let caller = session.service.peer
        #expect(try await caller.statistic(.backups) == 2)
        #expect(try await caller.statistic(.newestBackup) > 1_000_000_000)
    }

    @Test(arguments: [
        ["restore", "latest"], ["restore", "2024"], ["restore", ""], ["restore", "..defaults"],
    ])
    func `A missing backup is refused with one sentence`(arguments: [String]) async {
        let answer = await session.tool(["backup"] + arguments)
        #expect(answer.status == 1)
        #expect(answer.error.hasPrefix("defaultsctl: There is no backup "))
        #expect(answer.error.split(separator: "\n").count == 1)
        let refused = await #expect(throws: ContractError.self) {
            try await session.service.peer.call(Contract.RestoreBackup.self, arguments[1])
        }
        #expect(refused?.code == .notFound)
    }

    @Test func `Restoring the latest twice gives the same state and does not toggle`() async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try await session.tool("backup", "now").requireOutput()
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        for _ in 1...3 {
            let restored = try await session.tool("backup", "restore", "latest").requireOutput()
            #expect(restored.hasPrefix(name.dropLast()), "\(restored)")
            #expect(await session.tool("read", "org.example.App", "Key").output == "1\n")
        }
        let undo = try #require(try session.backupNames("undo").first)
        #expect(await session.tool("backup", "restore", undo).status == 0)
        #expect(await session.tool("read", "org.example.App", "Key").output == "2\n")
        // What undoes restorations leaves those that were asked for.
        for _ in 1...8 { await session.tool("backup", "restore", "latest") }
        #expect(try session.backupNames("program").map { $0 + "\n" } == [name])
        #expect(try session.backupNames("undo").count <= 7)
    }

    @Test
    func `Restorations that change nothing do not replace the backup that undoes the first one`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-string", "old")
        #expect(await session.tool("backup", "now").status == 0)
        await session.tool("write", "org.example.App", "Key", "-string", "precious")
        #expect(await session.tool("backup", "restore", "latest").status == 0)
        let undo = try session.backupNames("undo")
        #expect(undo.count == 1)
        for _ in 1...8 {
            let answer = await session.tool("backup", "restore", "latest")
            #expect(
                answer.output.contains("nothing had to be changed, so there is nothing to undo"))
            let json = await session.tool("backup", "restore", "latest", "--json")
            #expect(json.output.contains(#""undo":null"#), "\(json)")
        }
        #expect(try session.backupNames("undo") == undo)
        let first = try #require(undo.first)
        #expect(await session.tool("backup", "restore", first).status == 0)
        #expect(await session.tool("read", "org.example.App", "Key").output == "precious\n")
    }

    @Test func `Restoring a domain that neither the backup nor the database has is reported`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        await session.tool("-host", "elsewhere", "write", "org.example.Far", "Key", "-int", "1")
        #expect(await session.tool("backup", "now").status == 0)
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        for options in [[], ["--dry-run"], ["--domain", "org.example.App"]] {
            let refused = await session.tool(
                ["backup", "restore", "latest", "--domain", "org.exmaple.App"] + options)
            #expect(refused.status == 1 && refused.output == "", "\(refused)")
            #expect(refused.error.contains("nor the database has the domain 'org.exmaple.App'"))
        }
        #expect(await session.tool("read", "org.example.App", "Key").output == "2\n")
        #expect(try session.backupNames("undo") == [])
        // The backup has this one only for a host, and the database no longer has it.
        await session.tool("delete-all", "org.example.Far")
        let restored = await session.tool(
            "backup", "restore", "latest", "--domain", "org.example.Far")
        #expect(restored.output.contains(": 1 key set, 0 removed"), "\(restored)")
    }

    @Test func `A restoration is shown before it is made, and can be of one domain`() async throws {
        for domain in ["org.example.A", "org.example.A@host", "org.example.B"] {
            await session.tool("write", domain, "Key", "-int", "1")
        }
        // One that came later would be the latest.
        #expect(try await session.makeDailyBackup() != nil)
        await session.tool("backup", "now")
        for domain in ["org.example.A", "org.example.A@host", "org.example.B"] {
            await session.tool("write", domain, "Key", "-int", "2")
        }
        await session.tool("write", "org.example.C", "New", "-int", "2")
        let before = try await session.generation()
        let plan = try await session.tool("backup", "restore", "latest", "--dry-run")
            .requireOutput()
        #expect(
            plan.hasSuffix(
                """
                : 3 keys would be set, 1 removed
                  org.example.A: 1 key set, 0 removed
                  org.example.A@host: 1 key set, 0 removed
                  org.example.B: 1 key set, 0 removed
                  org.example.C: 0 keys set, 1 removed

                """), "\(plan)")
        let names = try await session.tool(
            "backup", "restore", "latest", "--dry-run", "--json", "--domain", "org.example.C"
        ).requireOutput()
        #expect(
            names.contains(
                #""changes":[{"domain":"org.example.C","set":[],"removed":["New"],"locked":0}]"#))
        let changed = await session.tool("backup", "restore", "latest", "--dry-run", "--changed")
        #expect(changed.status == 64 && changed.output == "", "\(changed)")
        #expect(try await session.generation() == before)
        #expect(try session.backupNames("undo") == [])
        let restored = await session.tool(
            "backup", "restore", "latest", "--domain", "org.example.A")
        #expect(restored.output.contains(": 2 keys set, 0 removed\n"), "\(restored)")
        for (domain, value) in [
            ("org.example.A", "1\n"), ("org.example.A@host", "1\n"), ("org.example.B", "2\n"),
        ] {
            #expect(await session.tool("read", domain, "Key").output == value)
        }
        #expect(await session.tool("read", "org.example.C", "New").output == "2\n")
        let refused = await session.tool("backup", "restore", "latest", "--domain", "no domain")
        #expect(refused.status == 1 && refused.error.contains("Invalid domain 'no domain'"))
    }

    @Test func `The file of a backup is restored from any place, and other files are refused`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try await session.tool("backup", "now").requireOutput().dropLast()
        let copy = session.directory.path + "/copy.db"
        try FileManager.default.copyItem(
            atPath: "\(session.backupsPath)/\(name).db", toPath: copy)
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        let restored = await session.tool("backup", "restore", copy)
        #expect(restored.status == 0 && restored.output.contains("1 key set"), "\(restored)")
        #expect(await session.tool("read", "org.example.App", "Key").output == "1\n")
        #expect(mkfifo(session.directory.path + "/pipe.db", 0o600) == 0)
        let text = session.directory.path + "/text.db"
        try "no database".write(toFile: text, atomically: true, encoding: .utf8)
        for (path, sentence) in [
            (session.directory.path + "/none.db", "No such file or directory"),
            (session.directory.path + "/pipe.db", "It is not a regular file"),
            ("/dev/null", "It is not a regular file"), (text, "is damaged, and nothing of it"),
            (session.databasePath, "is the database itself"),
        ] {
            let refused = await session.tool("backup", "restore", path)
            #expect(refused.status == 1 && refused.error.contains(sentence), "\(refused)")
        }
        // The service itself does not wait for a pipe.
        await #expect(throws: ContractError.self) {
            try await restore("", session.directory.path + "/pipe.db")
        }
        #expect(await session.tool("read", "org.example.App", "Key").output == "1\n")
    }

    @Test func `The database is not restored from itself, however its path is spelled`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        await session.tool("sync")
        let link = session.directory.path + "/link"
        let place = session.service.files.database
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place)
        for path in ["\(place)/./defaults.db", "\(link)/defaults.db"] {
            let refused = await #expect(throws: ContractError.self) {
                try await restore("", path)
            }
            #expect(refused?.message.contains("is the database itself") == true)
        }
        #expect(try session.backupNames("undo").isEmpty)
    }

    @Test func `A call that names a backup twice, or a file by a relative path, is refused`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try await session.tool("backup", "now").requireOutput()
            .trimmingCharacters(in: .newlines)
        for (name, path, sentence) in [
            (name, "\(session.backupsPath)/\(name).db", "by both name and path"),
            ("", "backups/\(name).db", "is relative"),
        ] {
            let refused = await #expect(throws: ContractError.self) {
                try await restore(name, path)
            }
            #expect(refused?.code == .invalidArguments)
            #expect(refused?.message.contains(sentence) == true, "\(sentence)")
        }
        try await restore(name, "")
    }

    private func restore(_ name: String, _ path: String) async throws {
        _ = try await session.service.peer.call(
            Contract.Restore.self, (name: name, path: path, domains: [], isDry: false))
    }

    private func mode(of file: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    }

    @Test func `Programs get dates in ISO 8601`() async throws {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        await session.tool("backup", "now")
        let date = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/
        let list = try await session.tool("backup", "list", "--json").requireOutput()
        #expect(list.matches(of: date).count == list.matches(of: /"date":/).count)
        let status = try await session.tool("status", "--json").requireOutput()
        #expect(status.contains(/"newestBackup":"\d{4}-\d\d-\d\dT/), "\(status)")
    }

    @Test func `The paths of backups are those of their files, which can be copied and restored`()
        async throws
    {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        await session.tool("backup", "now")
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        await session.tool("backup", "now")
        let paths = try await session.tool("backup", "list", "--paths").requireOutput()
            .split(separator: "\n").map(String.init)
        #expect(paths.count == 2)
        for path in paths {
            #expect(path.hasPrefix("/") && FileManager.default.fileExists(atPath: path), "\(path)")
        }
        let list = try await session.tool("backup", "list", "--json").requireOutput()
        for path in paths { #expect(list.contains("\"path\":\"\(path)\""), "\(list)") }
        let copy = session.directory.path + "/copy.db"
        try FileManager.default.copyItem(atPath: paths[1], toPath: copy)
        try await session.tool("backup", "restore", copy).requireOutput()
        #expect(try await session.tool("read", "org.example.App", "Key").requireOutput() == "1\n")
    }

    @Test func `A name may be shortened if it stays unique`() async throws {
        await session.tool("write", "org.example.App", "Key", "-int", "1")
        let name = try await session.tool("backup", "now").requireOutput()
        await session.tool("write", "org.example.App", "Key", "-int", "2")
        await session.tool("backup", "now")
        let several = await session.tool("backup", "restore", String(name.prefix(4)))
        #expect(several.status == 1 && several.error.contains("backups have names that begin"))
        let beginning = name.replacing("program\n", with: "pro")
        #expect(await session.tool("backup", "restore", beginning).status == 0)
        #expect(await session.tool("read", "org.example.App", "Key").output == "1\n")
    }
}
