import DefaultsModel
import Foundation
import SQLite
import TestSupport
import TestTiers
import Testing

@testable import DefaultsStorage

/// When changes were written to disk: `DatabaseView.changeTimes(of:in:)`, and what is kept of old times.
@Suite(.startsPrograms) struct TimeTableTests {
    private let domain: Domain
    private let scratch: Scratch

    init() throws {
        domain = try Domain(name: "org.example.App", layer: .domain)
        scratch = try Scratch()
    }

    private func times(_ database: Database, _ keys: String...) throws -> [String: UInt64] {
        let times = try database.view.changeTimes(of: keys.map { try Key($0) }, in: domain)
        return Dictionary(uniqueKeysWithValues: times.map { ($0.key.name, $0.time) })
    }

    @Test("Keys have the time of the flush that wrote their change, and now before that")
    func flushed() async throws {
        scratch.date.seconds = 1000
        let database = try scratch.open()
        let set = try database.set(["old": [1], "removed": [1]]).generation
        try await database.flush()
        scratch.date.seconds = 2000
        let removed = try database.remove("removed").generation
        try database.set(["new": [1]])
        #expect(
            try times(database, "old", "removed", "new", "absent")
                == ["old": 1000, "removed": 2000, "new": 2000])
        scratch.date.seconds = 3000
        #expect(try times(database, "old", "new") == ["old": 1000, "new": 3000])
        try await database.flush()
        scratch.date.seconds = 4000
        #expect(
            try times(database, "old", "removed", "new")
                == ["old": 1000, "removed": 3000, "new": 3000])
        let changes = try database.view.changeTimes(of: [Key("old"), Key("removed")], in: domain)
        #expect(changes.map(\.generation) == [set, removed])
        // A flush without a change is no later time for the changes before it.
        try database.remember(Token("token"), of: domain)
        try await database.flush()
        #expect(try times(database, "new") == ["new": 3000])
        database.close()
    }

    @Test func `A change that is made after the clock was set back has the time of the clock`()
        async throws
    {
        scratch.date.seconds = 5000
        let database = try scratch.open()
        try database.set(["before": [1]])
        try await database.flush()
        scratch.date.seconds = 1000
        try database.set(["after": [1]])
        try await database.flush()
        #expect(try times(database, "before", "after") == ["before": 5000, "after": 1000])
        database.close()
    }

    @Test("The times of a database of an earlier version are unknown")
    func migration() async throws {
        var database = try scratch.open()
        try database.set(["old": [1]])
        try await database.flush()
        database.close()
        try scratch.execute("DROP TABLE times; PRAGMA user_version = 6")
        database = try scratch.open()
        try database.set(["new": [1]])
        try await database.flush()
        let told = try times(database, "old", "new")
        #expect(told == ["old": 0, "new": UInt64(scratch.date.seconds)])
        database.close()
    }

    @Test("A repair keeps the times, and does not date changes whose time is lost")
    func repair() async throws {
        scratch.date.seconds = 1000
        var database = try scratch.open()
        try database.set(["first": [1]])
        try await database.flush()
        scratch.date.seconds = 2000
        try database.set(["second": [1]])
        try await database.flush()
        database.close()
        try scratch.execute(
            "DELETE FROM times WHERE generation = (SELECT max(generation) FROM times)")
        database = try scratch.open(damage: "A test.")
        try database.set(["third": [1]])
        try await database.flush()
        let told = try times(database, "first", "second", "third")
        #expect(told == ["first": 1000, "second": 0, "third": 2000])
        database.close()
    }

    // MARK: Old times

    private func table() throws -> TimeTable {
        let connection = try Connection(path: ":memory:", flags: [.readWrite, .create])
        for step in Schema.migrations { try connection.execute(step) }
        return TimeTable(connection: connection)
    }

    private func rowCount(_ table: TimeTable) throws -> Int64 {
        let select = try table.connection.prepare("SELECT count(*) FROM times")
        return try select.step() ? select.integer(at: 0) : 0
    }

    @Test("Old times are less exact, and never too early", arguments: [2, 300, 90_000])
    func thinning(distance: UInt64) throws {
        let table = try table()
        let start: UInt64 = 1_700_000_000
        func time(_ number: UInt64) -> UInt64 { start + number * distance }
        let last: UInt64 = 20_000
        for number in 1...last {
            try table.note(Generation.first.advanced(by: number), at: time(number))
            if number % 1000 == 0 { #expect(try rowCount(table) <= TimeTable.mostRows) }
        }
        for number in stride(from: 1, through: last, by: 7) {
            let told = try #require(
                try table.times(of: [Generation.first.advanced(by: number)])[0])
            let age = time(last) - time(number)
            // The rows are thinned now and then, so a row may be older than its step says.
            let width: UInt64 =
                switch age {
                case ...3600: 10
                case ...86_400: 60
                case ...(31 * 86_400): 3600
                case ...(366 * 86_400): 86_400
                default: 7 * 86_400
                }
            #expect(told >= time(number) && told < time(number) + max(width, distance))
        }
        #expect(try table.times(of: [Generation.first.advanced(by: last + 1)])[0] == nil)
    }

    @Test("A clock that jumps far at each flush does not make more rows")
    func jumpingClock() throws {
        let table = try table()
        let last = UInt64(TimeTable.mostRows) + 1000
        let time = { (number: UInt64) in number * 8 * 86_400 }
        for number in 1...last {
            try table.note(Generation.first.advanced(by: number), at: time(number))
        }
        #expect(try rowCount(table) <= TimeTable.mostRows)
        // What is forgotten is unknown, and not younger than it is.
        #expect(try table.times(of: [.first.advanced(by: 1)])[0] == 0)
        #expect(try table.times(of: [.first.advanced(by: last - 1000)])[0] == time(last - 1000))
    }
}
