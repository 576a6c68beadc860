import DBus
import DefaultsRoaming
import Foundation
import RoamingDirectory
import TestSupport

extension ReplicaID {
    /// A name that a seed repeats.
    static func random(using random: inout SeededGenerator) -> ReplicaID {
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return ReplicaID(bytes: bytes) ?? .random()
    }
}

/// What time it is on all machines of a test.
final class TestClock: @unchecked Sendable {
    // Only the test changes it, and it waits for each call of an engine.
    var now: Int64 = 1_800_000_000_000_000

    static let day: Int64 = 86_400_000_000
}

/// The clocks of a machine.
final class MachineClock: @unchecked Sendable {
    // Only the test changes them, as with the clock of all machines.
    let real: TestClock
    /// How far the wall clock is off.
    var skew: Int64 = 0
    /// The machine's start.
    var boot = ReplicaID.random().bytes

    init(_ real: TestClock) {
        self.real = real
    }

    var moment: Moment {
        Moment(boot: boot, sinceBoot: real.now - 1_000_000, wall: real.now + skew)
    }
}

/// What a whole test knows of all values.
final class Ledger {
    /// The values that a writer replaced who knew them.
    var replaced: Set<String> = []
    /// The values that were told as lost.
    var told: Set<String> = []
    /// The values whose edits were acknowledged, by the key.
    var acknowledged: [(key: RoamingKey, value: String)] = []
}

/// A machine with its directory, its `roam.db`, and values as the roamer would have them.
final class Device {
    struct Base {
        var value: String?
        var mark: VersionMark
        var time: EditTime
    }

    let directory: String
    let database: String
    let name: String
    let clock: MachineClock
    let loop: EventLoop
    let ledger: Ledger
    private(set) var engine: DirectoryEngine
    var id: ReplicaID
    /// Gives the names under which it joins anew: a seed repeats them, as they decide between edits of
    /// the same time.
    private var ids: SeededGenerator
    var place: [UInt8]?
    var revision: UInt64 = 0
    var bases: [RoamingKey: Base] = [:]
    /// Values that are here and not pushed yet; nil is a removal.
    var dirty: [RoamingKey: String?] = [:]
    var lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    /// How many times it has joined anew.
    var joins = 0

    init(
        _ name: String, ids: SeededGenerator, in parent: String, clock: TestClock,
        on loop: EventLoop, ledger: Ledger
    ) throws {
        self.name = name
        self.ids = ids
        id = .random(using: &self.ids)
        self.clock = MachineClock(clock)
        self.loop = loop
        self.ledger = ledger
        directory = "\(parent)/\(name)"
        database = "\(parent)/\(name).db"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        engine = try Self.engine(directory, database, loop, self.clock)
    }

    private static func engine(
        _ directory: String, _ database: String, _ loop: EventLoop, _ clock: MachineClock
    ) throws -> DirectoryEngine {
        try DirectoryEngine(directory, database: database, on: loop, clock: { clock.moment })
    }

    /// The process ends and starts again.
    func restart() throws {
        engine = try Self.engine(directory, database, loop, clock)
    }

    /// The contents of its tables.
    func savedTables() -> [String: Data] {
        var files: [String: Data] = [:]
        for suffix in ["", "-wal"] {
            files[suffix] = FileManager.default.contents(atPath: database + suffix)
        }
        return files
    }

    /// The process ends, its tables are replaced, and it starts again.
    func restart(with tables: [String: Data]) throws {
        engine = try Self.engine(directory, ":memory:", loop, clock)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: database + suffix)
        }
        for (suffix, data) in tables { try data.write(to: URL(filePath: database + suffix)) }
        try restart()
    }

    /// The path of its file.
    var file: String { "\(directory)/\(id).roam" }

    /// The value that a program on this machine sees.
    func value(of key: RoamingKey) -> String? {
        if let value = dirty[key] { return value }
        return bases[key]?.value
    }

    func write(_ value: String?, to key: RoamingKey) {
        // It may be acknowledged: a replica that joins anew pushes its values once more.
        if case .some(.some(let old)) = dirty[key], old != value { ledger.replaced.insert(old) }
        dirty[key] = .some(value)
    }

    static func text(_ archive: [UInt8]?) -> String? {
        archive.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: A round, as the roamer makes it

    @discardableResult
    func meet() async throws -> Meeting {
        var meeting = try await engine.meet(id, named: name, known: place, lastBatch: lastBatch)
        if meeting.state == .mustJoinAnew {
            joins += 1
            id = .random(using: &ids)
            (place, revision, lastBatch) = (nil, 0, nil)
            for (key, base) in bases {
                guard let value = base.value else { continue }
                if dirty[key] == nil {
                    dirty[key] = .some(value)
                } else {
                    // The edit that is not pushed yet was made by someone who saw it.
                    ledger.replaced.insert(value)
                }
            }
            bases = [:]
            meeting = try await engine.meet(id, named: name, known: place, lastBatch: lastBatch)
        }
        place = meeting.place
        return meeting
    }

    func round(repeatingBatch: Bool = false) async throws {
        try await meet()
        var isAgain = true
        while isAgain {
            try await pull()
            isAgain = try await push(again: repeatingBatch)
        }
    }

    func pull(limit: Int = 3) async throws {
        var hasMore = true
        while hasMore {
            let page = try await engine.pull(after: revision, limit: limit)
            try await keep(page.losers)
            for version in page.versions where dirty[version.key] == nil {
                bases[version.key] = Base(
                    value: Self.text(version.archive), mark: version.mark, time: version.time)
            }
            revision = page.revision
            hasMore = page.hasMore
        }
    }

    func keep(_ losers: [Loser]) async throws {
        for loser in losers {
            if let value = Self.text(loser.archive) { ledger.told.insert(value) }
        }
        if !losers.isEmpty { try await engine.noteKept(losers) }
    }

    /// - Returns: Whether an edit lost, so that there is something to pull.
    private func push(again isRepeated: Bool) async throws -> Bool {
        guard !dirty.isEmpty else { return false }
        let edits = dirty.sorted { $0.key < $1.key }.map { key, value in
            Edit(
                key: key, archive: value.map { Array($0.utf8) },
                age: joins > 0 && bases[key] == nil ? nil : .seconds(0), base: bases[key]?.mark,
                earliest: bases[key]?.time ?? .unknown)
        }
        let batch = Batch(
            number: (lastBatch?.number ?? 0) + 1, nonce: ReplicaID.random().bytes, edits: edits)
        lastBatch = (batch.number, batch.nonce, false)
        let (outcomes, losers) = try await engine.push(batch)
        if isRepeated {
            try restart()
            try await meet()
            let (again, _) = try await engine.push(batch)
            precondition(again == outcomes, "A batch has other outcomes when it is repeated.")
        }
        try await keep(losers)
        return note(outcomes)
    }

    private func note(_ outcomes: [Outcome]) -> Bool {
        var hasLost = false
        for outcome in outcomes {
            let key = outcome.key
            guard let value = dirty.removeValue(forKey: key) else { continue }
            if let value { ledger.acknowledged.append((key, value)) }
            switch outcome.result {
            case .stands:
                if let old = bases[key]?.value, old != value { ledger.replaced.insert(old) }
                bases[key] = Base(value: value, mark: outcome.mark, time: outcome.time)
            case .lost:
                hasLost = true
                revision = min(revision, outcome.mark.revision - 1)
            }
        }
        return hasLost
    }

    /// What the engine shows, without removals.
    func shown() async throws -> [RoamingKey: String] {
        let page = try await engine.pull(after: 0, limit: .max)
        var values: [RoamingKey: String] = [:]
        for version in page.versions { values[version.key] = Self.text(version.archive) }
        return values
    }
}
