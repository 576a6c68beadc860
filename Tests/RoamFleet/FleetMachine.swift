import DefaultsRoaming
import RoamingPostgres
import Synchronization

/// When each edit was begun, so that machines that get it know how long it took.
final class EditMoments: Sendable {
    private let moments = Mutex<[ContinuousClock.Instant]>([])
    /// The number before that of the first edit that counts; nil if none does.
    private let last = Mutex<Int?>(nil)

    /// Counts the edits that come from now on, or none.
    func count(_ isCounting: Bool) {
        let number = isCounting ? moments.withLock(\.count) : nil
        last.withLock { $0 = number }
    }

    /// The number of a new edit, which its value contains.
    func begin() -> Int {
        moments.withLock { moments in
            moments.append(.now)
            return moments.count
        }
    }

    /// How long ago an edit was begun, in seconds; nil if the value is of none.
    func age(of archive: [UInt8]?) -> Double? {
        let digits = archive?.prefix { 48...57 ~= $0 } ?? []
        guard let number = Int(String(decoding: digits, as: UTF8.self)),
            let last = last.withLock(\.self), number > last
        else { return nil }
        return moments.withLock { moments in
            moments.indices.contains(number - 1)
                ? moments[number - 1].duration(to: .now) / .seconds(1) : nil
        }
    }

    /// An archive of 144 bytes, as that of a small value has.
    ///
    /// No edit has the number 0.
    static func value(_ number: Int) -> [UInt8] {
        let text = Array("\(number) ".utf8)
        return text + [UInt8](repeating: UInt8(ascii: "x"), count: 144 - text.count)
    }
}

/// One machine of a user: what a roaming service does with an engine, without a daemon.
///
/// One task at a time uses it (`@unchecked Sendable`).
final class FleetMachine: @unchecked Sendable {
    /// What a machine is to do.
    enum Errand: Sendable {
        case poll
        case edit(key: Int)
    }

    let user: Int
    let engine: PostgresEngine
    /// The revision that it has pulled.
    private(set) var revision: UInt64 = 0
    /// How many batches it has pushed.
    private(set) var pushes = 0
    /// How many edits have lost, here or elsewhere.
    private(set) var losers = 0
    private let errands = Mutex<AsyncStream<Errand>.Continuation?>(nil)
    private let id = ReplicaID.random()
    private let samples: Samples
    private let moments: EditMoments
    private var place: [UInt8]?
    private var lastBatch: (number: UInt64, nonce: [UInt8], isAnswered: Bool)?
    private var marks: [RoamingKey: VersionMark] = [:]

    init(of user: Int, _ engine: PostgresEngine, _ samples: Samples, _ moments: EditMoments) {
        self.user = user
        self.engine = engine
        self.samples = samples
        self.moments = moments
    }

    /// The key of a number: domain and key have 36 bytes together.
    static func key(_ number: Int) -> RoamingKey {
        RoamingKey(domain: "org.example.Application", name: "WindowState\(number)")
    }

    /// Connects, and reads everything.
    func logIn(as operation: Operation? = .logIn) async throws {
        try await timing(operation) {
            try await meet()
            try await pull()
        }
    }

    /// Asks for news, and reads it.
    func poll() async throws {
        let newest = try await timing(.poll) { try await meet() }
        guard newest > revision else { return }
        try await timing(.pull) { try await pull() }
    }

    /// Reads what is new, without a note of it.
    func catchUp() async throws {
        if try await meet() > revision { try await pull() }
    }

    /// Asks each time when the server announces something, as far as errands are done.
    func listen() async throws {
        try await engine.onNews { [weak self] in self?.send(.poll) }
    }

    /// Takes errands from now on.
    func takeErrands() -> AsyncStream<Errand> {
        let (stream, continuation) = AsyncStream<Errand>.makeStream()
        errands.withLock { $0 = continuation }
        return stream
    }

    /// Gives it something to do; nothing more follows after nil.
    func send(_ errand: Errand?) {
        errands.withLock { continuation in
            if let errand {
                continuation?.yield(errand)
            } else {
                continuation?.finish()
                continuation = nil
            }
        }
    }

    /// Does one thing.
    func run(_ errand: Errand) async throws {
        switch errand {
        case .poll: try await poll()
        case .edit(let key): try await push([key])
        }
    }

    /// Changes some keys.
    func push(_ keys: [Int], as operation: Operation? = .push) async throws {
        let number = operation == nil ? 0 : moments.begin()
        let edits = keys.map { key in
            Edit(
                key: Self.key(key), archive: EditMoments.value(number), age: .zero,
                base: marks[Self.key(key)], earliest: .unknown)
        }
        let batch = Batch(
            number: (lastBatch?.number ?? 0) + 1, nonce: ReplicaID.random().bytes, edits: edits)
        lastBatch = (batch.number, batch.nonce, false)
        let result = try await timing(operation) { try await engine.push(batch) }
        lastBatch?.isAnswered = true
        pushes += 1
        for outcome in result.outcomes { marks[outcome.key] = outcome.mark }
        losers += result.losers.count
        try await engine.noteKept(result.losers)
    }

    @discardableResult
    private func meet() async throws -> UInt64 {
        let meeting = try await engine.meet(id, named: "fleet", known: place, lastBatch: lastBatch)
        guard meeting.state == .continued else {
            throw FleetError("the server does not know a machine any more")
        }
        place = meeting.place
        return meeting.revision
    }

    private func pull() async throws {
        while true {
            let page = try await engine.pull(after: revision, limit: 1000)
            for version in page.versions {
                marks[version.key] = version.mark
                if version.replica != id, let age = moments.age(of: version.archive) {
                    samples.add(.news, age)
                }
            }
            revision = page.revision
            if !page.hasMore { return await engine.notePulled(upTo: revision) }
        }
    }

    private func timing<Value: Sendable>(
        _ operation: Operation?, _ body: () async throws -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        let value = try await body()
        if let operation { samples.add(operation, start.duration(to: .now) / .seconds(1)) }
        return value
    }
}
