import DBus
import DefaultsRoaming
import Foundation
import RoamingPostgres
import Synchronization
import TestSupport
import Testing

/// Why tests are skipped.
let missing = Comment(rawValue: PostgresServer.missing)

/// A loop that ends with its last reference.
final class Loop: Sendable {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop.startThread(named: "test", isInOwnProcess: true)
    }

    deinit {
        loop.stop()
    }
}

/// A server that is set up.
final class RoamingServer: Sendable {
    let postgres: PostgresServer
    let loop: Loop
    private static let names = Mutex(0)

    /// The one that most tests share, each with users of its own.
    private static let sharedTask = Task { try await RoamingServer() }

    static var shared: RoamingServer {
        get async throws { try await sharedTask.value }
    }

    init(_ postgres: PostgresServer? = nil) async throws {
        self.postgres = try postgres ?? PostgresServer()
        loop = try Loop()
        _ = try await ServerSetup.initialize(at: self.postgres.address(), on: loop.loop)
    }

    /// Another name each time.
    static func newName(_ prefix: String = "user") -> String {
        names.withLock { number in
            number += 1
            return "\(prefix)\(number)"
        }
    }

    /// A user who may roam.
    func newUser(_ prefix: String = "user") async throws -> String {
        let name = Self.newName(prefix)
        try await ServerSetup.addUser(name, at: postgres.address(), on: loop.loop)
        return name
    }

    /// A machine of a user.
    func machine(
        of user: String, _ replica: ReplicaID = .random()
    ) throws -> TestMachine {
        let address = try ServerAddress(postgres.address(user))
        return TestMachine(replica, PostgresEngine(at: address, on: loop.loop))
    }

    /// Two machines of a new user.
    func twoMachines() async throws -> (user: String, a: TestMachine, b: TestMachine) {
        let user = try await newUser()
        return (user, try machine(of: user), try machine(of: user))
    }

    /// Runs SQL as an administrator, which must work.
    @discardableResult
    func administer(_ sql: String) throws -> String {
        try postgres.sql(sql).requireOutput()
    }
}

/// A replica with what it has to remember, as the roamer does.
///
/// One task at a time uses it (`@unchecked Sendable`).
final class TestMachine: @unchecked Sendable {
    let id: ReplicaID
    let engine: PostgresEngine
    var place: [UInt8]?
    var lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?

    init(_ id: ReplicaID, _ engine: PostgresEngine) {
        self.id = id
        self.engine = engine
    }

    /// The same replica in another process.
    func clone(_ engine: PostgresEngine) -> TestMachine {
        let clone = TestMachine(id, engine)
        clone.place = place
        clone.lastBatch = lastBatch
        return clone
    }

    @discardableResult
    func meet() async throws -> Meeting {
        let meeting = try await engine.meet(
            id, named: "laptop", known: place, lastBatch: lastBatch)
        if meeting.state != .mustJoinAnew { place = meeting.place }
        return meeting
    }

    func newBatch(_ edits: [Edit]) -> Batch {
        let number = (lastBatch?.number ?? 0) + 1
        lastBatch = (number, ReplicaID.random().bytes, false)
        return Batch(number: number, nonce: lastBatch?.nonce ?? [], edits: edits)
    }

    @discardableResult
    func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        let result = try await engine.push(batch)
        lastBatch?.isAnswered = true
        return result
    }

    @discardableResult
    func push(_ edits: Edit...) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        try await push(newBatch(edits))
    }

    /// All versions after a revision, page by page.
    func pull(after first: UInt64 = 0, limit: Int = 1000) async throws -> Page {
        var (revision, versions, losers) = (first, [Version](), [Loser]())
        while true {
            let page = try await engine.pull(after: revision, limit: limit)
            versions += page.versions
            losers += page.losers
            revision = page.revision
            if !page.hasMore {
                return Page(versions: versions, losers: losers, revision: revision, hasMore: false)
            }
        }
    }
}

/// An edit of a key in one domain.
func edit(
    _ key: String, _ value: String?, age: Duration? = .zero, base: VersionMark? = nil,
    earliest: EditTime = .unknown
) -> Edit {
    Edit(
        key: RoamingKey(domain: "org.example.App", name: key),
        archive: value.map { Array($0.utf8) },
        age: age, base: base, earliest: earliest)
}

extension Page {
    /// The values by key; nil for removals.
    var values: [String: String?] {
        Dictionary(
            versions.map { ($0.key.name, $0.archive.map { String(decoding: $0, as: UTF8.self) }) }
        ) { $1 }
    }
}

extension Loser {
    var value: String? { archive.map { String(decoding: $0, as: UTF8.self) } }
}
