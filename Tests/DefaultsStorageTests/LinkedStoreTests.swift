import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// A store in another directory of the user, to which a link in its place leads.
@Suite struct LinkedStoreTests {
    private let scratch: Scratch
    private var target: String { "\(scratch.root)/dotfiles/preferences.db" }

    /// Makes a database with one key, and moves its file away.
    ///
    /// - Parameter isRelative: Whether the link begins at its own directory.
    private init(isRelative: Bool) async throws {
        scratch = try Scratch()
        let database = try scratch.open()
        try database.set(["key": [1]])
        try await database.flush()
        database.close()
        let files = FileManager.default
        try files.createDirectory(
            atPath: "\(scratch.root)/dotfiles", withIntermediateDirectories: false)
        try files.moveItem(atPath: scratch.store, toPath: target)
        try files.createSymbolicLink(
            atPath: scratch.store,
            withDestinationPath: isRelative ? "../../dotfiles/preferences.db" : target)
    }

    init() async throws {
        try await self.init(isRelative: true)
    }

    private func isLink() -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: scratch.store)) != nil
    }

    @Test("It is opened, written, backed up and opened again", arguments: [true, false])
    func served(isRelative: Bool) async throws {
        let linked = try await LinkedStoreTests(isRelative: isRelative)
        for number in UInt8(2)...3 {
            let database = try linked.scratch.open()
            let writer = try database.makeWriter()
            #expect(try database.archive("key") == [number - 1])
            try database.set(["key": [number]])
            try await database.flush(by: writer)
            #expect(!database.needsFlush)
            #expect(database.storeSize > 4096)
            guard case .made = try await writer.backUp(.daily, at: 1000, leaving: 0) else {
                Issue.record("no backup")
                return
            }
            await writer.close()
            database.close()
        }
        #expect(linked.isLink())
        #expect(linked.scratch.repair == nil)
    }

    @Test("A damaged store is rebuilt in its own directory, and the link stays")
    func repaired() async throws {
        try FileHandle(forWritingTo: URL(fileURLWithPath: target)).write(
            contentsOf: [UInt8](repeating: 0, count: 100))
        let database = try scratch.open()
        #expect(try database.archive("key") == [1])
        #expect(scratch.repair != nil)
        database.close()
        #expect(isLink())
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(scratch.root)/dotfiles")
        #expect(names.count { $0.hasPrefix("preferences.db.aside-") } == 1)
        #expect(try scratch.damagedFiles().isEmpty)
        #expect(try scratch.open().archive("key") == [1])
    }

    @Test("A lost store is made again in its own directory; if the link is lost, in its place")
    func lost() async throws {
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for (path, isStillLink) in [(target, true), (scratch.store, false)] {
            try FileManager.default.removeItem(atPath: path)
            #expect(database.needsFlush)
            try await database.flush(by: writer)
            #expect(!database.needsFlush)
            #expect(isLink() == isStillLink)
            #expect(FileManager.default.fileExists(atPath: path))
        }
        await writer.close()
        database.close()
        #expect(try scratch.open().archive("key") == [1])
    }
}
