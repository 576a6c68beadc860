/// How many bytes programs have set lately.
///
/// A program may set at once what its bound allows in a minute. This account then empties at the
/// same rate. It has no clock: its caller tells it the time.
package struct WriteRates: Sendable {
    /// A program, as far as it can be told apart from others.
    package enum Program: Hashable, Sendable {
        /// One in a sandbox, by its application ID.
        case application(String)
        /// All programs in a sandbox whose application is unknown.
        case unknownApplication
        case process(UInt32)
        /// One whose process is unknown, by the name of its connection.
        case connection(String)
    }

    package typealias Instant = SuspendingClock.Instant

    private struct Account {
        var bytes: Double
        var time: Instant

        /// - Parameter limit: The bytes a minute.
        func emptied(at now: Instant, limit: Int) -> Double {
            let seconds = time.duration(to: now) / .seconds(1)
            return max(0, bytes - seconds * Double(limit) / 60)
        }
    }

    /// How many programs are remembered at most.
    ///
    /// Those that have set least are forgotten first.
    private static let most = 1024

    private var accounts: [Program: Account] = [:]

    /// Nothing has been set.
    package init() {}

    /// How long a program must wait before it may set this many bytes; nil if it may set them now.
    ///
    /// A program whose account is empty may set any number of bytes.
    ///
    /// - Parameter limit: The bytes a minute, at least 1.
    package func wait(
        _ program: Program, for bytes: Int, limit: Int, at now: Instant
    ) -> Duration? {
        guard let account = accounts[program] else { return nil }
        let level = account.emptied(at: now, limit: limit)
        guard level > 0, level + Double(bytes) > Double(limit) else { return nil }
        let surplus = min(level, level + Double(bytes) - Double(limit))
        return .seconds(surplus * 60 / Double(limit))
    }

    /// Notes what a program has set.
    package mutating func note(
        _ bytes: Int, by program: Program, limit: Int, at now: Instant
    ) {
        if accounts[program] == nil, accounts.count >= Self.most { forgetSmallest() }
        let level = accounts[program]?.emptied(at: now, limit: limit) ?? 0
        accounts[program] = Account(bytes: level + Double(bytes), time: now)
    }

    /// What programs have set lately, in bytes.
    ///
    /// - Parameter limit: The bytes a minute of a program.
    package func levels(
        at now: Instant, limit: (Program) -> Int
    ) -> [(program: Program, bytes: Int)] {
        accounts.map { ($0.key, Int($0.value.emptied(at: now, limit: limit($0.key)))) }
    }

    private mutating func forgetSmallest() {
        let kept = accounts.sorted { $0.value.bytes > $1.value.bytes }.prefix(Self.most / 2)
        accounts = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
