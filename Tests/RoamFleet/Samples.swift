import Synchronization

/// What machines do, by its name in the table.
enum Operation: String, CaseIterable {
    case logIn = "log-in"
    case largeLogIn = "log-in, 2 000 keys"
    case push = "push of 1 key"
    case largePush = "push of 20 keys"
    case poll = "poll"
    case pull = "pull of news"
    case news = "edit until another machine has it"
}

/// How long each operation took, and what it cost.
final class Samples: Sendable {
    private struct Content {
        var times: [Operation: [Double]] = [:]
        var costs: [Operation: Cost] = [:]
    }

    /// The processor's time that a number of operations took.
    struct Cost {
        var server = 0.0
        var pooler = 0.0
        var count = 0
    }

    private let content = Mutex(Content())

    /// Notes that an operation took some seconds.
    func add(_ operation: Operation, _ seconds: Double) {
        content.withLock { $0.times[operation, default: []].append(seconds) }
    }

    /// Notes what a number of operations cost together.
    func add(_ operation: Operation, server: Double, pooler: Double, count: Int) {
        content.withLock { content in
            content.costs[operation, default: Cost()].server += server
            content.costs[operation, default: Cost()].pooler += pooler
            content.costs[operation, default: Cost()].count += count
        }
    }

    /// How many there were.
    func count(_ operation: Operation) -> Int {
        content.withLock { $0.times[operation]?.count ?? 0 }
    }

    /// The time that a part of them did not exceed, in seconds; nil if there were none.
    func quantile(_ part: Double, of operation: Operation) -> Double? {
        content.withLock { content in
            guard let times = content.times[operation]?.sorted(), !times.isEmpty else { return nil }
            return times[min(Int(part * Double(times.count)), times.count - 1)]
        }
    }

    /// What one operation cost the server, in seconds of a processor; nil if that is not known.
    func serverCost(of operation: Operation) -> Double? {
        content.withLock { $0.costs[operation].map { $0.server / Double(max($0.count, 1)) } }
    }

    /// What one operation cost the pooler, in seconds of a processor; nil if that is not known.
    func poolerCost(of operation: Operation) -> Double? {
        content.withLock { $0.costs[operation].map { $0.pooler / Double(max($0.count, 1)) } }
    }
}
