import DefaultsModel
import Foundation
import TestTiers
import Testing

@testable import DefaultsStorage

/// A write-ahead log that SQLite takes for empty, or for the log of another database.
@Suite(.startsPrograms) struct LostLogTests {
    /// What is done to a log.
    enum Damage: CustomTestStringConvertible, CaseIterable {
        case zeroed, headerZeroed, headerFlipped, lastFrameZeroed, text, longText, otherZeros, gone
        case cutTo0, cutTo10, cutTo32, cutTo100

        var testDescription: String { "\(self)" }

        /// The log afterwards; nil if it is removed.
        func apply(to log: [UInt8]) -> [UInt8]? {
            var log = log
            switch self {
            case .zeroed: return [UInt8](repeating: 0, count: log.count)
            case .headerZeroed: log.replaceSubrange(..<32, with: [UInt8](repeating: 0, count: 32))
            case .headerFlipped: log[17] ^= 4
            case .lastFrameZeroed:
                let frame = [UInt8](repeating: 0, count: 24 + PageSize.ours.whole)
                log.replaceSubrange((log.count - frame.count)..., with: frame)
            case .text: return Array("This is not a log.\n".utf8)
            case .longText: return Array(String(repeating: "not a log \n", count: 4000).utf8)
            case .otherZeros: return [UInt8](repeating: 0, count: 1 << 20)
            case .gone: return nil
            case .cutTo0: return []
            case .cutTo10: return Array(log.prefix(10))
            case .cutTo32: return Array(log.prefix(32))
            case .cutTo100: return Array(log.prefix(100))
            }
            return log
        }
    }

    private func replaceLog(of scratch: Scratch, by log: [UInt8]?) throws {
        let path = scratch.store + "-wal"
        guard let log else { return try FileManager.default.removeItem(atPath: path) }
        try Data(log).write(to: URL(fileURLWithPath: path))
    }

    /// The files of a killed process: two flushes that only the log has, with a backup between them.
    private func killed(hasBackup: Bool) async throws -> Scratch {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["early": [1]])
        try await database.flush(by: writer)
        if hasBackup { _ = try #require(try await database.backUp(.manual, at: 1).backup) }
        try database.set(["late": [2]])
        try await database.flush(by: writer)
        let copy = try scratch.copyAll()
        await writer.close()
        database.close()
        return copy
    }

    @Test(
        "Changes only in an unreadable log are reported as lost, or come from a backup",
        arguments: Damage.allCases, [(true, true), (true, false), (false, true), (false, false)])
    func lost(_ damage: Damage, _ given: (isSameBoot: Bool, hasBackup: Bool)) async throws {
        let scratch = try await killed(hasBackup: given.hasBackup)
        try replaceLog(of: scratch, by: damage.apply(to: scratch.bytes(scratch.store + "-wal")))
        if !given.isSameBoot { try FileManager.default.removeItem(atPath: "\(scratch.root)/run") }
        let boot = given.isSameBoot ? Scratch.boot : .random()
        let database = try scratch.open(boot: boot)
        let report = try #require(scratch.repair, "\(scratch.notices)")
        #expect(database.lastRepair?.report == report)
        let keys = try database.keys()
        if keys != ["early", "late"] {
            #expect(
                report.contains("if any, are lost")
                    || report.contains("If there were other keys, they are lost"))
        }
        if given.hasBackup { #expect(keys.contains("early")) }
        // The damage is reported once, even if the next process, too, is killed before its first flush.
        let again = try scratch.copyAll()
        #expect(try again.open(boot: boot).keys() == keys)
        #expect(again.repair == nil)
        database.close()
    }

    @Test("A process killed at any step of its life leaves nothing that looks like damage")
    func killedAnywhere() async throws {
        let scratch = try Scratch()
        func expectSound(_ value: UInt8?, _ step: String) throws {
            for boot in [Scratch.boot, .random()] {
                let copy = try scratch.copyAll()
                let database = try copy.open(boot: boot)
                #expect(try database.archive("key") == value.map { [$0] }, "\(step)")
                #expect(
                    database.lastRepair == nil && copy.repair == nil, "\(step): \(copy.notices)")
                #expect(!copy.noticed("write-ahead log"), "\(step): \(copy.notices)")
                // Nor does the one that is killed while it opens.
                let next = try copy.copyAll()
                let again = try next.open(boot: boot)
                #expect(again.lastRepair == nil && next.repair == nil, "\(step): \(next.notices)")
            }
        }
        for round in UInt8(1)...2 {
            let database = try scratch.open()
            try expectSound(round == 1 ? nil : round - 1, "open")
            try database.set(["key": [round]])
            let writer = try database.makeWriter()
            let batch = try #require(database.beginFlush())
            try await writer.write(batch)
            try expectSound(round, "written")
            database.finishFlush(batch, .success(()))
            try expectSound(round, "flushed")
            await writer.close()
            database.close()
            try expectSound(round, "closed")
        }
    }

    @Test(
        "A log without a whole header after a power cut loses nothing and raises no alarm",
        arguments: [0, 10, 32, 4152], [UInt8(0), 0xA5])
    func tornHeader(_ size: Int, _ byte: UInt8) async throws {
        let scratch = try await killed(hasBackup: true)
        // The next process folds the log back, and the machine goes down in its first flush.
        try scratch.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let folded = try scratch.copyWithoutRuntime()
        try replaceLog(of: folded, by: [UInt8](repeating: byte, count: size))
        let database = try folded.open(boot: .random())
        #expect(try database.keys() == ["early", "late"])
        #expect(folded.repair == nil && database.lastRepair == nil, "\(folded.notices)")
    }

    /// A database that was closed with the values of two flushes, and the log of the first one.
    ///
    /// - Parameter size: How large the value of the second flush is.
    private func closed(size: Int = 1) async throws -> (scratch: Scratch, earlier: Scratch) {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["key": [1]])
        try await database.flush(by: writer)
        let earlier = try scratch.copyAll()
        try database.set(["key": [2], "newer": [UInt8](repeating: 2, count: size)])
        try await database.flush(by: writer)
        await writer.close()
        database.close()
        return (scratch, earlier)
    }

    @Test(
        "An old log beside a newer database that was closed in order is set aside, not replayed",
        arguments: [true, false], [1, 1 << 20])
    func oldLog(_ isSameBoot: Bool, _ size: Int) async throws {
        // The log says that the database has fewer pages, if that has grown since.
        let (scratch, earlier) = try await closed(size: size)
        let log = try earlier.bytes(earlier.store + "-wal")
        try replaceLog(of: scratch, by: log)
        let database = try scratch.open(boot: isSameBoot ? Scratch.boot : .random())
        #expect(try database.archive("key") == [2])
        #expect(try database.keys() == ["key", "newer"])
        #expect(scratch.repair == nil)
        #expect(scratch.noticed("was not the log of this database"))
        #expect(database.lastRepair?.report.contains("was not read and is kept as") == true)
        let aside = try #require(try scratch.damagedFiles().first)
        #expect(try scratch.bytes("\(scratch.location.directory)/\(aside)") == log)
        database.close()
        #expect(try scratch.open().keys() == ["key", "newer"])
    }

    @Test("A text in place of the log beside a database that was closed in order is set aside")
    func textAsLog() async throws {
        let (scratch, _) = try await closed()
        try replaceLog(of: scratch, by: Damage.longText.apply(to: []))
        #expect(try scratch.open().archive("key") == [2])
        #expect(scratch.repair == nil)
        #expect(try scratch.damagedFiles().count == 1)
    }

    @Test("A database that was put back by hand with its log is opened as it is")
    func putBack() async throws {
        let (scratch, earlier) = try await closed()
        try Data(earlier.bytes(earlier.store)).write(to: URL(fileURLWithPath: scratch.store))
        try replaceLog(of: scratch, by: earlier.bytes(earlier.store + "-wal"))
        let database = try scratch.open()
        #expect(try database.keys() == ["key"])
        #expect(try database.archive("key") == [1])
        #expect(scratch.repair == nil && database.lastRepair == nil)
        #expect(try scratch.damagedFiles().isEmpty)
    }

    @Test("A log begun after the last orderly end is read, although no note mentions it yet")
    func newerLog() async throws {
        let (scratch, _) = try await closed()
        let lock = try scratch.bytes("\(scratch.location.directory)/lock")
        let database = try scratch.open()
        let writer = try database.makeWriter()
        try database.set(["key": [3]])
        try await database.flush(by: writer)
        let copy = try scratch.copyWithoutRuntime()
        try Data(lock).write(to: URL(fileURLWithPath: "\(copy.location.directory)/lock"))
        #expect(try copy.open(boot: .random()).archive("key") == [3])
        #expect(try copy.damagedFiles().isEmpty)
        await writer.close()
        database.close()
    }

    @Test(
        "A note that is damaged, or of another database, proves nothing", arguments: [true, false])
    func foreignNote(_ isDamaged: Bool) async throws {
        let scratch = try await killed(hasBackup: false)
        let note = StoreNote(
            isClosed: false, database: .random(), generation: .largestInFile)
        let line = isDamaged ? String(note.line.dropLast()) : note.line
        try Data("host 1\n\(line)\n".utf8).write(
            to: URL(fileURLWithPath: "\(scratch.location.directory)/lock"))
        let database = try scratch.open()
        #expect(try database.keys() == ["early", "late"])
        #expect(scratch.repair == nil && database.lastRepair == nil)
    }
}
