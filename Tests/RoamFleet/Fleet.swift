import DBus
import DefaultsRoaming
import Foundation
import RoamingPostgres
import TestSupport

/// Many machines of many users, at a PostgreSQL server of their own.
///
/// One task changes it, while no others read it (`@unchecked Sendable`).
final class Fleet: @unchecked Sendable {
    let options: FleetOptions
    let server: PostgresServer
    let loop: EventLoop
    private let names: [String]
    private var tokens: [PoolToken] = []
    private let moments = EditMoments()
    private var random: SeededGenerator
    private var pooler: Pooler?
    /// Bytes on disk for a key; nil until there are some.
    private(set) var keySize: Double?

    /// The user whose machines log in with many keys.
    private static let reader = "reader"
    private static let readerKeys = 2000

    /// Starts the server, and makes the accounts.
    init(_ options: FleetOptions) async throws {
        self.options = options
        random = SeededGenerator(seed: UInt64(options.seed))
        names = (0..<options.users).map { "user\($0)" }
        loop = try EventLoop.startThread(named: "fleet", isInOwnProcess: true)
        let connections = options.waiting == [.pool] ? 0 : options.machineCount
        // What is acknowledged is on the disk, as on a real server.
        server = try PostgresServer(
            options: [
                "fsync=on", "shared_buffers=256MB", "max_connections=\(connections + 50)",
                "max_wal_size=4GB", "checkpoint_timeout=30min", "autovacuum_naptime=10min",
            ] + options.settings)
        let address = server.address()
        _ = try await ServerSetup.initialize(at: address, on: loop)
        try await ServerSetup.addUsers(names + [Self.reader], at: address, on: loop)
        if options.waiting.contains(.pool) {
            guard Pooler.isAvailable else { throw FleetError(Pooler.missing) }
            try administer("ALTER ROLE roam_pooled LOGIN")
            tokens = try await ServerSetup.addTokens(
                for: names + [Self.reader], at: address, on: loop)
        }
    }

    deinit {
        loop.stop()
    }

    private func size() throws -> Double {
        let text = try administer(
            """
            VACUUM roam.entry;
            SELECT pg_total_relation_size('roam.entry') / count(*)::float FROM roam.entry
            """)
        return Double(text) ?? 0
    }

    @discardableResult
    func administer(_ sql: String) throws -> String {
        try server.sql(sql).requireOutput().trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: One way of waiting

    /// Runs all machines with one way of waiting, and measures.
    func run(_ waiting: Waiting) async throws -> Stage {
        let seconds = waiting == .listen ? 0 : max(Int(options.interval.rounded()), 1)
        try administer("UPDATE roam.setting SET poll_seconds = \(seconds)")
        pooler = nil
        if waiting == .pool {
            pooler = try Pooler(
                before: server, sessions: options.sessions, clients: options.machineCount + 50)
        }
        let stage = Stage(
            waiting, server: ServerMeter(process: server.processIdentifier ?? 0),
            pooler: (pooler?.processIdentifier).map(ServerMeter.init(process:)))
        if keySize == nil { try await storeKeys(stage) }
        if keySize == nil { keySize = try size() }
        try await logInWithManyKeys(stage)
        let machines = try await logIn(stage)
        try await measurePushes(of: machines, stage)
        if waiting != .listen { try await ask(machines, stage) }
        try await work(machines, stage)
        for machine in machines { await machine.engine.close() }
        stage.pushes += machines.reduce(0) { $0 + $1.pushes }
        stage.losers = machines.reduce(0) { $0 + $1.losers }
        return stage
    }

    private func machine(of user: Int, _ stage: Stage) throws -> FleetMachine {
        let engine =
            if let pooler {
                PostgresEngine(
                    at: try ServerAddress(pooler.address()), token: tokens[user], on: loop)
            } else {
                PostgresEngine(
                    at: try ServerAddress(
                        server.address(user < names.count ? names[user] : Self.reader)), on: loop)
            }
        return FleetMachine(of: user, engine, stage.samples, moments)
    }

    /// The first machine of each user brings the user's keys.
    private func storeKeys(_ stage: Stage) async throws {
        let counts = names.map { _ in options.keys } + [Self.readerKeys]
        try await inParallel(Array(0...names.count)) { [self] user in
            let machine = try machine(of: user, stage)
            try await machine.logIn(as: nil)
            for first in stride(from: 0, to: counts[user], by: 500) {
                try await machine.push(
                    Array(first..<min(first + 500, counts[user])), as: nil)
            }
            await machine.engine.close()
            return machine.pushes
        }.forEach { stage.pushes += $0 }
    }

    private func logInWithManyKeys(_ stage: Stage) async throws {
        let rounds = min(options.rounds, 5)
        try await stage.metering(.largeLogIn, count: rounds) {
            for _ in 0..<rounds {
                let machine = try machine(of: names.count, stage)
                try await machine.logIn(as: .largeLogIn)
                await machine.engine.close()
            }
        }
    }

    /// All machines connect and read the keys of their users.
    private func logIn(_ stage: Stage) async throws -> [FleetMachine] {
        let before = stage.clientMemory
        let users = (0..<options.machineCount).map { $0 % options.users }
        let waiting = stage.waiting
        let machines = try await stage.metering(.logIn, count: users.count) {
            try await inParallel(users) { [self] user in
                let machine = try machine(of: user, stage)
                try await machine.logIn()
                if waiting == .listen { try await machine.listen() }
                return machine
            }
        }
        stage.machines = machines.count
        // Few machines need less than the memory that was freed meanwhile.
        stage.machineMemory = max(stage.clientMemory - before, 0) / Double(machines.count)
        return machines
    }

    /// Runs something for each of many, a few at the same time.
    private func inParallel<Element: Sendable, Value: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            var values: [Value] = []
            for (number, element) in elements.enumerated() {
                if number >= 4, let value = try await group.next() { values.append(value) }
                group.addTask { try await body(element) }
            }
            for try await value in group { values.append(value) }
            return values
        }
    }

    // MARK: Pushes

    private func measurePushes(of machines: [FleetMachine], _ stage: Stage) async throws {
        // One of each user, so that no two change the same pages.
        let pushing = Array(machines.prefix(min(options.rounds, options.users)))
        // After a checkpoint, the first change of a page writes all of it to the WAL.
        try administer("CHECKPOINT")
        stage.firstWAL = try await walOfPushes(pushing, stage)
        stage.laterWAL = try await walOfPushes(pushing, stage)
        let rounds = max(options.rounds / 4, 1)
        try await stage.metering(.largePush, count: rounds) {
            for round in 0..<rounds {
                try await pushing[round % pushing.count].push(
                    Array(0..<min(20, options.keys)), as: .largePush)
            }
        }
    }

    /// The bytes of WAL for one push of each machine.
    private func walOfPushes(_ machines: [FleetMachine], _ stage: Stage) async throws -> Double {
        let before = try administer("SELECT pg_current_wal_insert_lsn()")
        try await stage.metering(.push, count: machines.count) {
            for (number, machine) in machines.enumerated() {
                try await machine.push([number % options.keys])
            }
        }
        let bytes = try administer(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '\(before)')")
        return (Double(bytes) ?? 0) / Double(machines.count)
    }

    // MARK: Time that passes

    /// Machines ask, and there is nothing new after the first time.
    private func ask(_ machines: [FleetMachine], _ stage: Stage) async throws {
        // A session plans the first five executions of a statement, and a pooler's session all of them.
        try await catchUp(machines, times: stage.waiting == .pool ? 1 : 6)
        let before = stage.samples.count(.poll)
        let day = Day(
            machines, polling: options.interval, for: options.seconds, edits: 0, of: 1,
            using: &random)
        let start = ContinuousClock.now
        let costs = try await stage.costs { try await day.pass() }
        let elapsed = start.duration(to: .now) / .seconds(1)
        let polls = stage.samples.count(.poll) - before
        stage.samples.add(.poll, server: costs.server, pooler: costs.pooler, count: polls)
        stage.idle = Stage.Idle(
            pollsPerSecond: Double(polls) / elapsed, server: costs.server / elapsed,
            pooler: costs.pooler / elapsed, lateness: max(elapsed - options.seconds, 0))
    }

    /// All machines read what is new.
    private func catchUp(_ machines: [FleetMachine], times: Int = 1) async throws {
        _ = try await inParallel(machines) { machine in
            for _ in 0..<times { try await machine.catchUp() }
        }
    }

    /// Machines also make edits, which reach the user's other machines.
    private func work(_ machines: [FleetMachine], _ stage: Stage) async throws {
        let interval = stage.waiting == .listen ? nil : options.interval
        try await catchUp(machines)
        moments.count(true)
        let day = Day(
            machines, polling: interval, for: options.seconds, edits: options.editCount,
            of: options.keys, using: &random)
        try await day.pass(rest: interval == nil ? .milliseconds(300) : .zero)
        try await catchUp(machines)
        moments.count(false)
        stage.memory = stage.wholeMemory
        let revisions = Dictionary(grouping: machines, by: \.user)
            .mapValues { Set($0.map(\.revision)) }
        stage.differing = revisions.values.count { $0.count > 1 }
    }
}
