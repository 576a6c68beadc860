import DefaultsModel
import Foundation
import TestSupport
import Testing

@testable import DefaultsStorage

/// Random histories against a dictionary: changes, flushes that succeed, fail or are cut short,
/// orderly ends, deaths, boots, and journals that are out of sight for a while, in any order.
@Suite struct RandomHistoryTests {
    @Test(
        "After any history every acknowledged change is there, and numbers increase",
        arguments: 1...25 as ClosedRange<UInt64>)
    func history(seed: UInt64) async throws {
        let history = try History(number: seed, SeededGenerator(case: seed))
        for _ in 0..<150 {
            try await history.step()
            try history.check()
        }
    }
}

/// A database with a random life, and the contents that it must have.
private final class History {
    private static let domains = ["a", "a@host:box", "b"]
    private static let keys = ["k", "l", "m", "n"]

    private var random: SeededGenerator
    private let scratch: Scratch
    private var boot = UniqueID.random()
    private var database: Database
    private var batch: FlushBatch?
    private var expected: [String: [String: [UInt8]]] = [:]
    private var last: Generation
    /// Whether processes are started in turn with one runtime directory, with another, and with
    /// none.
    private let wanders: Bool
    /// Whether a process now and then cannot see the journal of the one before.
    private let isBlind: Bool

    init(number: UInt64, _ random: SeededGenerator) throws {
        self.random = random
        // Beside the database the journal outlives a boot, so that a boot loses nothing either.
        scratch = try Scratch(hasRuntimeDirectory: !number.isMultiple(of: 3))
        wanders = number % 3 == 1
        isBlind = number % 3 == 2
        database = try scratch.open(boot: boot)
        last = database.generation
    }

    func step() async throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: try change()
        case 10..<13: batch = batch ?? database.beginFlush()
        case 13..<15: try await finishFlush(.success(()))
        case 15: try await finishFlush(.failure(.noHome()))
        case 16: try await restart(afterWriting: batch)
        case 17 where isBlind: try await liveOutOfSight()
        default: try await restart(afterWriting: nil)
        }
    }

    func check() throws {
        let full = expected.filter { !$0.value.isEmpty }
        #expect(try database.domains().map(\.description) == full.keys.sorted())
        for domain in Self.domains {
            let values = expected[domain] ?? [:]
            #expect(try database.keys(in: domain) == values.keys.sorted())
            for key in Self.keys {
                #expect(try database.archive(key, in: domain) == values[key])
            }
        }
    }

    private func change() throws {
        let domain = Self.domains.randomElement(using: &random) ?? "a"
        let change =
            try Int.random(in: 0..<12, using: &random) == 0
            ? database.clear(domain) : changeKeys(of: domain)
        if change.clearsDomain { expected[domain] = [:] }
        #expect(change.generation > last)
        last = change.generation
    }

    /// Sets up to two keys and removes up to two others, of which some may not be there.
    private func changeKeys(of domain: String) throws -> ChangeSet {
        let archive = [UInt8.random(in: 0...255, using: &random)]
        let keys = Self.keys.shuffled(using: &random)
        let set = keys.prefix(Int.random(in: 0...2, using: &random))
        let removed = keys.suffix(Int.random(in: set.isEmpty ? 1...2 : 0...2, using: &random))
        let change = try database.commit(
            ChangeProposal(
                domain: Domain(domain, on: .localhost),
                set: set.map { .init(key: try Key($0), archive: archive) },
                removed: removed.map { try Key($0) }, origin: ""))
        for key in set { expected[domain, default: [:]][key] = archive }
        for key in removed { expected[domain]?[key] = nil }
        return change
    }

    /// Runs a process that makes changes without seeing the pending ones, and then one that sees both.
    private func liveOutOfSight() async throws {
        let (run, hidden) = ("\(scratch.root)/run", "\(scratch.root)/hidden")
        batch = nil
        database.close()
        try FileManager.default.moveItem(atPath: run, toPath: hidden)
        let without = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: nil)
        database = try Database(at: without, boot: boot) { _ in }
        for _ in 0..<Int.random(in: 0...3, using: &random) { try change() }
        if Bool.random(using: &random) { try await database.flush() }
        database.close()
        try FileManager.default.moveItem(atPath: hidden, toPath: run)
        database = try scratch.open(boot: boot)
    }

    private func finishFlush(_ outcome: Result<Void, StorageError>) async throws {
        guard let batch else { return }
        if case .success = outcome { try await write(batch) }
        database.finishFlush(batch, outcome)
        self.batch = nil
    }

    /// Ends the process, perhaps after a batch was written of which the database was not told.
    private func restart(afterWriting batch: FlushBatch?) async throws {
        if let batch { try await write(batch) }
        self.batch = nil
        if scratch.location.runtimeDirectory == nil, Bool.random(using: &random) {
            boot = .random()
        }
        // A close gives up the lock and the connection and nothing else: what is pending is lost
        // to this process, as in a death.
        database.close()
        database = try Database(at: place(), boot: boot) { _ in }
    }

    private func place() -> DatabaseLocation {
        guard wanders else { return scratch.location }
        return DatabaseLocation(
            directory: scratch.location.directory,
            runtimeDirectory: ["run", "other", nil].randomElement(using: &random)?
                .map { "\(scratch.root)/\($0)" })
    }

    private func write(_ batch: FlushBatch) async throws {
        let writer = try database.makeWriter()
        try await writer.write(batch)
        await writer.close()
    }
}
