import DefaultsModel
import DefaultsTerms
import Foundation
import SQLite
import Testing

@testable import DefaultsStorage

/// A history on a disk that is full, of an earlier version, or full of bytes that look like settings.
@Suite struct HistoryDiskTests {
    @Test func `A history that is full costs no setting, and what it lacks is unknown`()
        async throws
    {
        let work = try HistoryWork()
        let large = [UInt8](repeating: 2, count: 100_000)
        try work.set("Key", large)
        try await work.flush()
        let early = work.database.generation
        try await work.writer.boundHistory()
        try work.set("Key", [1])
        try work.set("Other", [1])
        try await work.flush()
        #expect(work.database.durableGeneration == work.database.generation)
        #expect(work.notices.count == 1, "\(work.notices)")
        let last = work.database.generation
        try work.set("Key", [3])
        try await work.flush()
        #expect(work.notices.count == 1)
        let actions = try await work.actions()
        #expect(actions.map(\.first) == [work.database.generation, early])
        #expect(try await work.standing(of: actions[0]) == [.holds])
        #expect(try await work.standing(of: actions[1]) == [.changed])
        let domain = try Domain(name: "org.example.App", layer: .domain)
        func values(at generation: Generation) async throws -> [KnownValue] {
            try await work.writer.values(
                of: [Key("Key"), Key("Other")], in: domain, at: generation, time: 0
            ).values.map(\.value)
        }
        #expect(try await values(at: early) == [.unknown, .unknown])
        #expect(try await values(at: last) == [.present([1]), .present([1])])
    }

    @Test func `A history of the first version is converted, and goes on`() async throws {
        let work = try HistoryWork()
        try work.set("Key", [1])
        try await work.flush()
        try await work.restart {
            let file = try Connection(path: work.path, flags: .readWrite)
            for column in ["line", "started", "paused"] {
                try file.execute(
                    "ALTER TABLE actions ADD COLUMN \(column) INTEGER NOT NULL DEFAULT 0")
            }
            try file.pragma("user_version", "1")
        }
        try work.set("Key", [2])
        try await work.flush()
        #expect(work.notices.isEmpty, "\(work.notices)")
        let actions = try await work.actions()
        #expect(actions.map(\.number) == [2, 1])
        #expect(try await work.standing(of: actions[0]) == [.holds])
    }

    @Test func `Values of the history that look like pages of a database never become settings`()
        async throws
    {
        // A database that has the key which nobody must see.
        let other = try HistoryWork()
        try other.set("Forged", [UInt8](repeating: 7, count: 40))
        try await other.flush()
        try await other.restart()
        let page = try Data(contentsOf: URL(filePath: other.scratch.store))
        let work = try HistoryWork()
        for number in 0..<200 { try work.set("Key\(number)", [UInt8(number)]) }
        let value = Array([page, page, page, page].joined().prefix(200_000))
        for round in 0..<100 {
            try work.set("Large", value + [UInt8(round)])
            try await work.flush()
        }
        try work.set("Large", nil)
        try await work.flush()
        try await work.restart {
            let size = try Data(contentsOf: URL(filePath: work.path)).count
            #expect(size > 2 << 20)
            // The root of the entries, as of the other tables, is among the first pages.
            let store = try FileHandle(forUpdating: URL(filePath: work.scratch.store))
            try store.seek(toOffset: 4096)
            try store.write(contentsOf: Data(count: 6 * 4096))
            try store.close()
        }
        let key = try Key("Forged")
        for domain in try work.database.domains() {
            #expect(try !work.database.keys(of: domain).contains(key))
        }
        #expect(work.scratch.repair != nil, "the damage was found")
        let domain = try Domain(name: "org.example.App", layer: .domain)
        let found = try await work.writer.values(of: [key], in: domain, at: nil, time: work.time)
        #expect(found.values.allSatisfy { $0.value == .absent || $0.value == .unknown })
    }
}

extension DurableWriter {
    /// Lets the history not grow any more.
    fileprivate func boundHistory() throws {
        try history?.connection.pragma("max_page_count", "1")
    }
}
