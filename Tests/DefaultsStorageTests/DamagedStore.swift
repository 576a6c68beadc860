import DefaultsModel
import Foundation
import SQLite
import Testing

@testable import DefaultsStorage

/// A database whose every key is known, to be damaged in copies.
///
/// It has small values and such as take many pages, removals that are remembered and a domain that
/// was cleared, a large one that was dropped and set again, a layer of a host and tokens.
final class DamagedStore {
    typealias Contents = [String: [String: [UInt8]]]

    /// The files, as the process has left them.
    private(set) var copy: Scratch
    /// What it holds when it is closed.
    private(set) var contents: Contents = [:]
    /// Keys that it has held, and holds no more.
    private(set) var removed: Set<String> = []

    /// - Parameters:
    ///   - isClosed: Whether the process has ended in order, or dies at the end with all of it in the
    ///     write-ahead log of the store.
    ///   - flushes: How many transactions there are.
    init(isClosed: Bool = true, flushes: Int = 6) async throws {
        let scratch = try Scratch()
        copy = scratch
        let database = try scratch.open()
        let writer = try database.makeWriter()
        for round in 0..<flushes {
            try change(database, round)
            try await database.flush(by: writer)
        }
        copy = try scratch.copyAll()
        await writer.close()
        database.close()
        if isClosed { copy = try scratch.copyAll() }
    }

    private func change(_ database: Database, _ round: Int) throws {
        if round == 0 { try fillLargeDomain(of: database) }
        if round == 2 { try refillLargeDomain(of: database) }
        for number in 0..<40 {
            let domain = "org.example.App\(number % 5)\(number % 10 == 9 ? "@host" : "")"
            let size = number == 7 ? 30_000 : number % 8 == 0 ? 5_000 : number * 3
            let value = [UInt8](repeating: UInt8(round * 40 + number), count: size + 1)
            let key = "key\(number)-\(round % 3)"
            try database.set([key: value], in: domain)
            contents[domain, default: [:]][key] = value
        }
        try database.set(["gone\(round)": [1]], in: "org.example.App1")
        try database.set(["a": [1], "b": [2]], in: "org.example.Cleared\(round)")
        if round > 0 {
            try database.remove("gone\(round - 1)", in: "org.example.App1")
            try database.clear("org.example.Cleared\(round - 1)")
            contents["org.example.App1"]?["gone\(round - 1)"] = nil
            contents["org.example.Cleared\(round - 1)"] = nil
            removed.insert("gone\(round - 1)")
        }
        contents["org.example.App1"]?["gone\(round)"] = [1]
        contents["org.example.Cleared\(round)"] = ["a": [1], "b": [2]]
        try database.remember(
            Token("token\(round)"), of: Domain("org.example.App0", on: .localhost))
    }

    private static let largeDomain = "org.example.Large"

    /// Sets more keys than are removed at once.
    private func fillLargeDomain(of database: Database) throws {
        for number in 0..<Int(DroppedDomains.mostRemovedAtOnce) + 10 {
            try database.set(["large\(number)": [1, 2]], in: Self.largeDomain)
            if number >= 5 { removed.insert("large\(number)") }
        }
    }

    private func refillLargeDomain(of database: Database) throws {
        try database.clear(Self.largeDomain)
        for number in 0..<5 {
            let value = [UInt8](repeating: 9, count: 40)
            try database.set(["large\(number)": value], in: Self.largeDomain)
            contents[Self.largeDomain, default: [:]]["large\(number)"] = value
        }
    }
}

extension Scratch {
    var store: String { "\(location.directory)/defaults.db" }

    /// A copy of everything, the runtime directory included, as SIGKILL leaves it.
    func copyAll() throws -> Scratch {
        let copy = try copyWithoutRuntime()
        try FileManager.default.removeItem(atPath: "\(copy.root)/run")
        try FileManager.default.copyItem(atPath: "\(root)/run", toPath: "\(copy.root)/run")
        return copy
    }

    func bytes(_ path: String) throws -> [UInt8] {
        Array(try #require(FileManager.default.contents(atPath: path)))
    }

    /// What the database says that it has lost, in the notice of the last repair.
    var repair: String? {
        notices.last { $0.description.contains("was rebuilt") }?.description
    }

    /// The files of damaged stores.
    func damagedFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: location.directory)
            .filter { $0.contains(".aside-") }.sorted()
    }
}

/// What a repair has made of a damaged store, beside what that held.
struct RepairOutcome {
    /// The keys that are not as they were.
    private(set) var missing: [String] = []

    /// Opens the store, reads everything, and if something is found to be damaged only then, has it
    /// repaired as the service does.
    init(of scratch: Scratch, expecting store: DamagedStore) async throws {
        var database = try scratch.open()
        if let damage = try RepairOutcome.damage(of: database) {
            database.close()
            database = try scratch.open(damage: damage)
        }
        #expect(try RepairOutcome.damage(of: database) == nil, "it is sound after that")
        for (domain, values) in store.contents {
            for (key, value) in values {
                let found = try database.archive(key, in: domain)
                if found != value { missing.append(key) }
            }
        }
        for domain in try database.domains() {
            if domain.name.contains("Cleared") {
                #expect(domain.name.hasSuffix("Cleared5"), "what was cleared stays away")
            }
            let keys = try database.keys(of: domain).map(\.name)
            #expect(store.removed.isDisjoint(with: keys), "what was removed stays away")
        }
        try database.set(["later": [1]])
        do {
            try await database.flush()
        } catch {
            // What no read meets, as the list of free pages, a flush does.
            #expect((error as? StorageError)?.code == .damagedDatabase)
            database.close()
            database = try scratch.open(damage: "\(error)")
            try await database.flush()
        }
        #expect(try database.archive("later") == [1])
        database.close()
    }

    /// What is wrong, as far as a check of everything finds it.
    private static func damage(of database: Database) throws -> String? {
        let check = StoreCheck(
            of: try StoreFile(path: database.path).connect(), path: database.path)
        while try check.advance() {}
        return check.damage.isNone ? nil : check.damage.description
    }
}
