import DefaultsModel
import DefaultsTerms
import Foundation
import SQLite
import TestSupport
import Testing

@testable import DefaultsStorage

/// How much the history keeps, and who loses first.
@Suite struct HistoryBoundsTests {
    private let app = "org.example.App"

    @Test func `A key that always changes leaves the others what they have`() async throws {
        let work = try HistoryWork()
        work.rules.bounds[.bytesPerDomain] = 64 << 10
        try work.set("Font", [1])
        try work.set("Colour", [1], of: "org.example.Other")
        try await work.flush()
        for value in 0..<2000 {
            try work.set("Position", [UInt8(value % 251), UInt8(value / 251)])
            if value % 5 == 0 { try await work.flush() }
        }
        try await work.flush()
        try await work.tidy()
        let actions = try await work.actions(app)
        #expect(actions.count < 500)
        let font = try #require(actions.last)
        #expect(font.number == 1)
        #expect(try await work.standing(of: font) == [.holds])
        #expect(try await work.actions("org.example.Other").count == 1)
        // The newest are there, and numbers go on.
        #expect(try await work.standing(of: actions[0]) == [.holds])
        #expect(actions[0].number == 2002)
    }

    @Test func `An application in a sandbox takes nothing from the others of its domain`()
        async throws
    {
        let work = try HistoryWork()
        work.rules.bounds[.bytes] = 256 << 10
        let sandboxed = ChangeAuthor(program: "app", application: "org.example.Box")
        for domain in 0..<8 {
            for value in 0..<20 {
                try work.set("Key", [UInt8(value)], of: "org.example.Own\(domain)")
                // More than some changes of a key in one flush are not told apart.
                if value % 10 == 9 { try await work.flush() }
            }
        }
        try await work.flush()
        let value = [UInt8](repeating: 7, count: 4000)
        for round in 0..<10 {
            for domain in 0..<64 {
                try work.set(
                    "Key", value + [UInt8(round)], of: "org.example.Box.D\(domain)", by: sandboxed)
            }
            try await work.flush()
        }
        try await work.tidy()
        for domain in 0..<8 {
            #expect(try await work.actions("org.example.Own\(domain)").count == 20)
        }
    }

    @Test func `Days are those that the history has seen, whatever the clock says`() async throws {
        let work = try HistoryWork()
        work.rules.bounds[.days] = 5
        for day in 0..<10 {
            work.time = 1_800_000_000 + Int64(day) * 86_400
            try work.set("Key\(day)", [1])
            try await work.flush()
        }
        try await work.tidy()
        #expect(try await work.actions().count == 6)
        // Twelve years later, and back after ten minutes.
        let now = work.time
        work.time += 12 * 366 * 86_400
        try work.set("Later", [1])
        try await work.flush()
        work.time = now + 600
        try work.set("Back", [1])
        try await work.flush()
        try await work.tidy()
        #expect(try await work.actions().count == 6)
    }

    @Test func `A value that is too large is not kept, and its action is not taken back whole`()
        async throws
    {
        let work = try HistoryWork()
        try work.set("Large", [UInt8](repeating: 1, count: 300 << 10))
        try await work.flush()
        try work.set("Large", [1])
        try await work.flush()
        let newest = try #require(try await work.actions(limit: 1).first)
        #expect(newest.keys == 1 && newest.known == 0)
    }

    @Test func `A program that changes its name at each change has no name in the end`()
        async throws
    {
        let work = try HistoryWork()
        for number in 0..<1500 {
            try work.set("Key\(number)", [1], by: .init(program: "program\(number)"))
        }
        try await work.flush()
        let actions = try await work.actions()
        #expect(actions.count == 1500)
        #expect(Set(actions.map(\.author.program)).count == 1025)
        #expect(actions[0].author.program.isEmpty)
    }

    @Test func `An application in a sandbox has few names, and takes none from others`()
        async throws
    {
        let work = try HistoryWork()
        for number in 0..<1500 {
            let author = ChangeAuthor(program: "program\(number)", application: "org.example.App")
            try work.set("Key\(number)", [1], by: author)
        }
        try work.set("Other", [1], by: .init(program: "panel"))
        try await work.flush()
        let authors = try await work.actions().map(\.author)
        #expect(authors[0].program == "panel")
        #expect(authors[1] == ChangeAuthor(program: "", application: "org.example.App"))
        let most = Int(HistoryFlush.mostNamesOfApplication)
        #expect(Set(authors.map(\.program)).count == most + 2)
    }

    @Test func `Domains without rows are bounded, and what is missing of them is known`()
        async throws
    {
        let work = try HistoryWork()
        let count = Int(HistoryTrimming.mostEmptyDomains) + 100
        for number in 0..<count {
            try work.set("Key", [1], of: "org.example.App\(number)")
        }
        try await work.flush()
        try work.set("Key", [2], of: "org.example.Other")
        try await work.flush()
        work.rules.excludedDomains = [try DomainPattern("org.example.*")]
        try work.set("Key", [3], of: "org.other.App")
        try await work.flush()
        try await work.tidy()
        let connection = try Connection(path: work.path, flags: .readOnly)
        let select = try connection.prepare("SELECT count(*) FROM domains")
        #expect(try select.step() && select.integer(at: 0) <= HistoryTrimming.mostEmptyDomains)
        let domain = try Domain(name: "org.example.App7", layer: .domain)
        let early = try await work.writer.values(
            of: [Key("Key")], in: domain, at: .first.advanced(by: 3), time: 0)
        #expect(early.values.map(\.value) == [.unknown] && !early.isComplete)
    }

    @Test func `There are at most 65 536 actions, and no number comes twice`() async throws {
        let work = try HistoryWork()
        work.rules.bounds[.bytesPerDomain] = 1 << 30
        work.rules.bounds[.bytes] = 1 << 30
        for round in 0..<7 {
            for number in 0..<10_000 { try work.set("Key\(number)", [UInt8(round)]) }
            try await work.flush()
        }
        try await work.tidy()
        let actions = try await work.actions()
        #expect(actions.count == Int(HistoryTrimming.mostActions) / 8 * 7)
        #expect(actions.first?.number == 70_000)
    }

    @Test func `What is excluded is erased, and so is all if the history is switched off`()
        async throws
    {
        let work = try HistoryWork()
        var numbers = SeededGenerator()
        let needle = Array("needle \(numbers.next())".utf8)
        for key in ["Token", "Other"] {
            try work.set(key, needle + Array(key.utf8))
            try await work.flush()
            try work.set(key, [1])
            try await work.flush()
        }
        work.rules.excludedKeys[app] = ["Token"]
        try work.set("Key", [1])
        try await work.flush()
        try await work.tidy()
        func find(_ bytes: [UInt8]) throws -> Bool {
            try ["", "-wal"].contains { suffix in
                let data = try Data(contentsOf: URL(filePath: work.path + suffix))
                return data.range(of: Data(bytes)) != nil
            }
        }
        #expect(try !find(needle + Array("Token".utf8)))
        #expect(try find(needle + Array("Other".utf8)))
        work.rules.bounds[.days] = 0
        try work.set("Key", [2])
        try await work.flush()
        try await work.tidy()
        #expect(try !find(needle))
        #expect(try await work.actions().isEmpty)
    }
}
