import Foundation
import Testing

@testable import DefaultsStorage

/// Links, pipes and directories with the names of the store's files.
@Suite struct StrangeFileTests {
    /// A place with a closed database that has one key on disk.
    private func makeScratch() async throws -> Scratch {
        let scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        database.close()
        return scratch
    }

    /// Such a place, and in it a file of another program.
    private func makeScratchAndVictim(
        _ text: String = "mine"
    ) async throws -> (scratch: Scratch, victim: String) {
        let scratch = try await makeScratch()
        let victim = "\(scratch.root)/victim"
        try text.write(toFile: victim, atomically: false, encoding: .utf8)
        return (scratch, victim)
    }

    @Test(
        "A pipe or a directory in place of a file is refused at once",
        arguments: ["defaults.db", "defaults.db-wal"], [true, false])
    func refused(_ name: String, _ isPipe: Bool) async throws {
        let scratch = try await makeScratch()
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

    /// What can be in place of a file.
    enum Kind: CaseIterable {
        case pipe, directory, danglingLink, linkToVictim, hardLinkOfVictim
    }

    private static let names = [
        "config/defaultsd/lock", "config/defaultsd/journal-place",
        "config/defaultsd/defaults.db-journal", "config/defaultsd/defaults.db.unfinished",
        "config/defaultsd/defaults.db.renewed", "JOURNAL/00000000000000ff.journal",
        "JOURNAL/00000000000000ff.late", "JOURNAL/00000000000000ff.journal.unfinished",
    ]

    @Test(
        "A pipe, directory or link in place of a file makes nobody wait, and prevents no start",
        arguments: names, Kind.allCases)
    func setAside(_ name: String, _ kind: Kind) async throws {
        let (scratch, victim) = try await makeScratchAndVictim()
        let journal = try #require(try scratch.journal().first).split(separator: "/").dropLast()
        let path =
            name.hasPrefix("JOURNAL/")
            ? "/" + journal.joined(separator: "/") + name.dropFirst("JOURNAL".count)
            : "\(scratch.root)/\(name)"
        try #require(chmod(victim, 0o644) == 0)
        try? FileManager.default.removeItem(atPath: path)
        switch kind {
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .danglingLink: try #require(symlink("/nonexistent/file", path) == 0)
        case .linkToVictim: try #require(symlink(victim, path) == 0)
        case .hardLinkOfVictim: try #require(link(victim, path) == 0)
        }
        let next = try scratch.open()
        #expect(try next.keys() == ["key"])
        try next.set(["later": [2]])
        try await next.flush()
        next.close()
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        var status = stat()
        try #require(stat(victim, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
        if kind != .hardLinkOfVictim {
            #expect(scratch.noticed("so it was not opened"), "\(scratch.notices)")
        }
        let last = try scratch.open()
        #expect(try last.keys() == ["key", "later"])
        last.close()
    }

    @Test("A link in place of the store to another kind of file is refused, and that file stays")
    func linkToForeignFile() async throws {
        let text = String(repeating: "mine\n", count: 2000)
        let (scratch, victim) = try await makeScratchAndVictim(text)
        try FileManager.default.removeItem(atPath: scratch.store)
        try #require(symlink(victim, scratch.store) == 0)
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .notOurDatabase)
        #expect(error?.description.contains("is a link to \(victim)") == true)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == text)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.root).sorted()
                == ["config", "run", "victim"])
    }

    @Test(
        "A directory or pipe in place of the store or its log is refused, with useful advice",
        arguments: ["", "-wal"], [S_IFDIR, S_IFIFO])
    func noFile(suffix: String, kind: mode_t) async throws {
        let scratch = try await makeScratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        _ = try await writer.backUp(.manual)
        await writer.close()
        database.close()
        let path = scratch.store + suffix
        try? FileManager.default.removeItem(atPath: path)
        try #require(kind == S_IFDIR ? mkdir(path, 0o700) == 0 : mkfifo(path, 0o600) == 0)
        let error = #expect(throws: StorageError.self) { _ = try scratch.open() }
        #expect(error?.code == .cannotOpen)
        #expect(error?.description.hasPrefix("\(path) is not a regular file") == true)
        #expect(error?.description.contains("Move it away and start again") == true)
        try FileManager.default.removeItem(atPath: path)
        let next = try scratch.open()
        #expect(try next.keys() == ["key"])
        next.close()
    }

    @Test("A link with the write-ahead log's name is not followed")
    func linkedLog() async throws {
        let (scratch, victim) = try await makeScratchAndVictim()
        try #require(symlink(victim, "\(scratch.store)-wal") == 0)
        let next = try scratch.open()
        #expect(try next.keys() == ["key"])
        try next.set(["later": [2]])
        try await next.flush()
        next.close()
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }

    @Test(
        "Another user's link in the runtime directory is not followed",
        .enabled(if: geteuid() == 0, "only root may give files to others"))
    func linkOfAnotherUser() throws {
        let scratch = try Scratch()
        let target = "\(scratch.root)/target"
        try #require(mkdir(target, 0o755) == 0)
        let link = "\(scratch.root)/run/defaultsd"
        try #require(symlink(target, link) == 0 && lchown(link, 65534, 65534) == 0)
        let database = try scratch.open()
        try database.set(["key": [1]])
        #expect(scratch.noticed("another user's link"), "\(scratch.notices)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
        var status = stat()
        try #require(stat(target, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o755)
        database.close()
    }
}
