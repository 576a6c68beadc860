import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

/// Changes of several domains, all or none.
@Suite struct JointChangeTests {
    private let domains: [Domain]
    private let scratch: Scratch

    init() throws {
        domains = try ["org.example.One", "org.example.Two", "org.example.Three"].map {
            try Domain(name: $0, layer: .domain)
        }
        scratch = try Scratch()
    }

    /// Sets a key in all domains.
    @discardableResult
    private func commit(
        _ database: Database, _ key: String, to archive: [UInt8], token: String? = nil
    ) throws -> Generation {
        let parts = try domains.enumerated().map { index, domain in
            let proposal = ChangeProposal(
                domain: domain, set: [.init(key: try Key(key), archive: archive)],
                token: try index == 0 ? token.map { try Token($0) } : nil, origin: ":1.1")
            return (proposal: proposal, growth: try database.growth(by: proposal))
        }
        let changes = try database.commit(parts)
        #expect(changes.map(\.domain) == domains && Set(changes.map(\.generation)).count == 1)
        return try #require(changes.first).generation
    }

    /// The archives that the domains have for a key.
    private func archives(_ database: Database, _ key: String) throws -> [[UInt8]?] {
        try domains.map { try database.value($0, Key(key))?.archive }
    }

    @Test func `All parts have one generation, while pending, after a crash and on disk`()
        async throws
    {
        let generation = try scratch.process { try commit($0, "a", to: [1], token: "t") }
        let database = try scratch.open()
        for _ in 1...2 {
            #expect(database.generation == generation)
            #expect(try archives(database, "a") == [[1], [1], [1]])
            for domain in domains {
                #expect(try database.value(domain, Key("a"))?.generation == generation)
            }
            #expect(try database.outcome(of: Token("t"), in: domains[0]) == generation)
            #expect(try database.outcome(of: Token("t"), in: domains[1]) == nil)
            try await database.flush()
        }
        #expect(database.durableGeneration == generation)
    }

    @Test func `After a rewrite of the journal no part is missing, and none comes twice`() throws {
        let last = try scratch.process { database in
            try commit(database, "a", to: [1])
            let large = [UInt8](repeating: 1, count: 1 << 20)
            for number in 0..<12 { try database.set(["large": large + [UInt8(number)]]) }
            return try commit(database, "b", to: [2])
        }
        for _ in 1...2 {
            try scratch.process { database throws in
                #expect(try archives(database, "a") == [[1], [1], [1]])
                #expect(try archives(database, "b") == [[2], [2], [2]])
                #expect(database.generation == last)
            }
        }
    }

    /// Invariant 4 of `Database`.
    @Test func `A record that is cut off anywhere has none of the parts`() throws {
        var (path, start) = ("", 0)
        try scratch.process { database in
            try commit(database, "a", to: [1])
            path = try scratch.journalWithRecords()
            start = try scratch.size(path)
            try commit(database, "a", to: [2])
        }
        let whole = try #require(FileManager.default.contents(atPath: path))
        let pristine = "\(scratch.root)/pristine"
        try FileManager.default.copyItem(atPath: scratch.location.directory, toPath: pristine)
        for end in start...whole.count {
            try FileManager.default.removeItem(atPath: "\(scratch.root)/run")
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true)
            try whole.prefix(end).write(to: URL(fileURLWithPath: path))
            try FileManager.default.removeItem(atPath: scratch.location.directory)
            try FileManager.default.copyItem(
                atPath: pristine, toPath: scratch.location.directory)
            let expected: [UInt8] = end == whole.count ? [2] : [1]
            let database = try scratch.open()
            #expect(
                try archives(database, "a") == [expected, expected, expected], "cut at \(end)")
        }
    }

    @Test func `A part that is too large makes the whole change fail`() throws {
        let database = try scratch.open()
        let large = [UInt8](repeating: 1, count: 30 << 20)
        let error = #expect(throws: StorageError.self) { try commit(database, "a", to: large) }
        #expect(error?.code == .changeTooLarge)
        #expect(try archives(database, "a") == [nil, nil, nil])
        #expect(database.pendingChanges == 0)
    }
}
