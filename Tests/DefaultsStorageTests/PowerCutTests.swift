import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// The files as a power cut leaves them: everything written up to some point, and no journal.
///
/// Invariant 4 of `Database`.
@Suite struct PowerCutTests {
    /// Which change of `steps()` the files hold: "left" and "right" are always set together.
    private func state(of scratch: Scratch) throws -> Int {
        let database = try scratch.open(boot: .random())
        #expect(scratch.repair == nil && database.lastRepair == nil, "\(scratch.notices)")
        let left = try database.archive("left")
        #expect(try database.archive("right") == left)
        #expect(try database.keys() == (left == nil ? [] : ["left", "right"]))
        return left.map { Int($0[0]) } ?? 0
    }

    @Test("After every step the files have the last flush, whole, and nothing later")
    func everyStep() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        #expect(try state(of: scratch.copyWithoutRuntime()) == 0)
        for number in 1...5 {
            let archive = [UInt8](repeating: UInt8(number), count: 5_000)
            try database.set(["left": archive, "right": archive])
            #expect(try state(of: scratch.copyWithoutRuntime()) == number - 1)
            let batch = try #require(database.beginFlush())
            #expect(try state(of: scratch.copyWithoutRuntime()) == number - 1)
            try await writer.write(batch)
            #expect(try state(of: scratch.copyWithoutRuntime()) == number)
            database.finishFlush(batch, .success(()))
            #expect(try state(of: scratch.copyWithoutRuntime()) == number)
        }
        await writer.close()
        database.close()
        #expect(try state(of: scratch.copyWithoutRuntime()) == 5)
    }

    @Test("A write-ahead log cut anywhere has only whole changes")
    func cutLog() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 1...3 {
            let archive = [UInt8](repeating: UInt8(number), count: 5_000)
            try database.set(["left": archive, "right": archive])
            try await database.flush(by: writer)
        }
        let log = try #require(
            FileManager.default.contents(atPath: "\(database.path)-wal"))
        var states: [Int] = []
        // The first part of the log makes the tables; it is cut there, too.
        for length in stride(from: 0, through: log.count, by: 1_021) + [log.count] {
            let copy = try scratch.copyWithoutRuntime()
            try log.prefix(length).write(
                to: URL(fileURLWithPath: "\(copy.location.directory)/defaults.db-wal"))
            try copy.forgetNote()
            states.append(try state(of: copy))
        }
        #expect(states == states.sorted())
        #expect(Set(states) == [0, 1, 2, 3])
        withExtendedLifetime((database, writer)) {}
    }

    @Test("A sector that the last transaction lacks does not make it look like two")
    func missingSector() async throws {
        let scratch = try Scratch()
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for number in 1...2 {
            // Of so many frames one has its head in two sectors, the first of which ends behind what
            // it says of the end of a transaction.
            let archive = [UInt8](repeating: UInt8(number), count: 200_000)
            try database.set(["left": archive, "right": archive])
            try await database.flush(by: writer)
        }
        var log = try scratch.bytes("\(database.path)-wal")
        let step = WriteAheadLog.frameHeaderSize + PageSize.ours.whole
        let frames = stride(from: WriteAheadLog.headerSize, to: log.count, by: step)
        let split = try #require(Array(frames).last { $0 % 512 == 504 })
        // What a disk gives that has not been written yet is anything.
        for index in split - 504..<split + 8 { log[index] = 0xA5 }
        let copy = try scratch.copyWithoutRuntime()
        try Data(log).write(to: URL(fileURLWithPath: "\(copy.location.directory)/defaults.db-wal"))
        try copy.forgetNote()
        #expect(try state(of: copy) == 1)
        #expect(copy.repair == nil)
        withExtendedLifetime((database, writer)) {}
    }
}
