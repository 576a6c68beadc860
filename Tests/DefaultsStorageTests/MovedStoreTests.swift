import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// A database whose path, directory or file changes between two processes, or under one.
///
/// The first process dies with a pending change, which only its journal has.
@Suite struct MovedStoreTests {
    private let scratch: Scratch
    private let files = FileManager.default
    private var config: String { scratch.location.directory }
    private var cloud: String { "\(scratch.root)/cloud/defaultsd" }

    init() throws {
        scratch = try Scratch()
        try files.createDirectory(
            atPath: "\(scratch.root)/cloud", withIntermediateDirectories: true)
    }

    private func location(_ directory: String) -> DatabaseLocation {
        DatabaseLocation(
            directory: directory, runtimeDirectory: scratch.location.runtimeDirectory)
    }

    private func open(_ directory: String) throws -> Database {
        try Database(at: location(directory), boot: Scratch.boot) { _ in }
    }

    private func copy(_ path: String, to other: String) throws {
        try files.copyItem(atPath: path, toPath: other)
    }

    /// Leaves a change on disk and one in the journal.
    private func leavePendingChange() async throws {
        let database = try scratch.open()
        try database.set(["flushed": [1]])
        try await database.flush()
        try database.set(["pending": [2]])
    }

    /// How the database moves, and where the next process finds it.
    enum Move: String, CaseIterable, CustomTestStringConvertible {
        case copyAndLink = "copied, removed, and a link in its place"
        case renameAndLink = "renamed, and a link in its place"
        case rename = "renamed, and opened by its new path"
        case copyAndRemove = "copied and removed, and opened by its new path"
        case parentAndLink = "its parent renamed, and a link in the parent's place"
        case fileAndLink = "its file moved, and a link in the file's place"
        case linkElsewhere = "opened through a link beside it"

        var testDescription: String { rawValue }
    }

    private func move(_ move: Move) throws -> String {
        switch move {
        case .copyAndLink:
            try copy(config, to: cloud)
            try files.removeItem(atPath: config)
            try files.createSymbolicLink(atPath: config, withDestinationPath: cloud)
            return config
        case .renameAndLink:
            try files.moveItem(atPath: config, toPath: cloud)
            try files.createSymbolicLink(atPath: config, withDestinationPath: cloud)
            return config
        case .rename:
            try files.moveItem(atPath: config, toPath: cloud)
            return cloud
        case .copyAndRemove:
            try copy(config, to: cloud)
            try files.removeItem(atPath: config)
            return cloud
        case .parentAndLink:
            let parent = "\(scratch.root)/config"
            try files.moveItem(atPath: parent, toPath: "\(parent).moved")
            try files.createSymbolicLink(atPath: parent, withDestinationPath: "\(parent).moved")
            return config
        case .fileAndLink:
            let target = "\(scratch.root)/cloud/defaults.db"
            for suffix in StoreFile.suffixes
            where files.fileExists(atPath: scratch.store + suffix) {
                try files.moveItem(atPath: scratch.store + suffix, toPath: target + suffix)
            }
            try files.createSymbolicLink(atPath: scratch.store, withDestinationPath: target)
            return config
        case .linkElsewhere:
            try files.createSymbolicLink(atPath: cloud, withDestinationPath: config)
            return cloud
        }
    }

    @Test(
        "A pending change is there after the database has moved between two processes",
        arguments: Move.allCases, [true, false])
    func betweenProcesses(_ move: Move, hasNote: Bool) async throws {
        try await leavePendingChange()
        if !hasNote { try files.removeItem(atPath: "\(config)/journal-place") }
        let place = try self.move(move)
        let database = try open(place)
        #expect(try database.keys() == ["flushed", "pending"])
        try await database.flush()
        database.close()
        #expect(try open(place).keys() == ["flushed", "pending"])
        #expect(try journalsWithRecords() == 0)
    }

    @Test("A database that was restored beside nothing finds its journal by its identity")
    func restored() async throws {
        try await leavePendingChange()
        // A backup has neither the note nor the lock.
        try files.createDirectory(atPath: cloud, withIntermediateDirectories: false)
        try #require(chmod(cloud, 0o700) == 0)
        for suffix in ["", "-wal"] where files.fileExists(atPath: scratch.store + suffix) {
            try copy("\(scratch.store)\(suffix)", to: "\(cloud)/defaults.db\(suffix)")
        }
        try files.removeItem(atPath: config)
        #expect(try open(cloud).keys() == ["flushed", "pending"])
    }

    @Test("A file that two directories link to has one journal")
    func sharedFile() async throws {
        try await leavePendingChange()
        let other = "\(scratch.root)/cloud/other"
        try files.createDirectory(atPath: other, withIntermediateDirectories: false)
        try #require(chmod(other, 0o700) == 0)
        try files.createSymbolicLink(
            atPath: "\(other)/defaults.db", withDestinationPath: scratch.store)
        #expect(try open(other).keys() == ["flushed", "pending"])
    }

    @Test(
        "A copy takes nothing from its original, whether that is running or not",
        arguments: [true, false])
    func copied(isRunning: Bool) async throws {
        var original: Database? = try scratch.open()
        try original?.set(["flushed": [1]])
        try await original?.flush()
        try original?.set(["pending": [2]])
        if !isRunning { original = nil }
        try copy(config, to: cloud)
        let other = try open(cloud)
        #expect(try other.keys() == ["flushed"])
        try other.set(["theirs": [3]])
        try await other.flush()
        other.close()
        original?.close()
        original = nil
        #expect(try scratch.open().keys() == ["flushed", "pending"])
    }

    @Test("Another database at the old path keeps the journal of the first, which finds it again")
    func replacedByAnother() async throws {
        try await leavePendingChange()
        try files.moveItem(atPath: config, toPath: cloud)
        let strange = try Scratch()
        try strange.process { try $0.set(["strange": [1]]) }
        try copy(strange.location.directory, to: config)
        // It goes on running.
        let other = try open(config)
        #expect(try other.keys() == [])
        try other.set(["other": [3]])
        #expect(try open(cloud).keys() == ["flushed", "pending"])
        #expect(try other.keys() == ["other"])
    }

    private func journalsWithRecords() throws -> Int {
        try scratch.journal().count { try scratch.size($0) > JournalHeader.size }
    }

    // MARK: Under a process

    /// Runs a process, which ends with the closure, however that leaves the database.
    ///
    /// The writer is made before the move, as a daemon's is.
    private func run(_ body: (Database, DurableWriter) async throws -> Void) async throws {
        let database = try scratch.open()
        try await body(database, database.makeWriter())
    }

    @Test(
        "A flush follows the path to where it leads, and the next process has everything",
        arguments: [Move.copyAndLink, .renameAndLink, .parentAndLink, .fileAndLink],
        [true, false])
    func underProcess(_ move: Move, isKilled: Bool) async throws {
        try await run { database, writer in
            try database.set(["early": [1]])
            try await database.flush(by: writer)
            _ = try self.move(move)
            try database.set(["late": [2]])
            if isKilled { return }
            try await database.flush(by: writer)
            await writer.close()
            database.close()
        }
        #expect(try open(config).keys() == ["early", "late"])
        if !isKilled {
            // Without its runtime directory, too.
            try files.removeItem(atPath: "\(scratch.root)/run")
            #expect(try open(config).keys() == ["early", "late"])
        }
        #expect(scratch.repair == nil)
    }

    @Test("A directory that was put back is written again, and nothing counts as damaged")
    func putBack() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        try copy(config, to: cloud)
        try database.set(["middle": [2]])
        try await database.flush(by: writer)
        try files.removeItem(atPath: config)
        try copy(cloud, to: config)
        try database.set(["late": [3]])
        try await database.flush(by: writer)
        await writer.close()
        database.close()
        let next = try scratch.open()
        #expect(try next.keys() == ["early", "late", "middle"])
        #expect(next.lastRepair == nil)
        let names = try files.contentsOfDirectory(atPath: config)
        #expect(!names.contains { $0.contains(".aside-") })
        #expect(names.contains { $0.contains(".replaced-") })
    }

    @Test("A journal of a process that is still running is not taken, and its name not used")
    func runningElsewhere() async throws {
        let first = try scratch.open()
        try first.set(["first": [1]])
        try files.moveItem(atPath: config, toPath: cloud)
        try files.createDirectory(atPath: config, withIntermediateDirectories: true)
        try #require(chmod(config, 0o700) == 0)
        let second = try scratch.open()
        try second.set(["second": [2]])
        try first.set(["third": [3]])
        #expect(try first.keys() == ["first", "third"])
        #expect(try second.keys() == ["second"])
        #expect(try scratch.journal().count == 2)
    }
}
