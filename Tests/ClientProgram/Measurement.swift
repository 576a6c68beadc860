import DBus
import DefaultsClient
import Glibc

/// What takes how long: prints lines of a kind and microseconds.
///
/// - `measure read COUNT`: a Bool that is at hand, by subscript and by property wrapper, each told as
///   the mean of 1 000.
/// - `measure write COUNT`: a write that does not wait, and until the service has taken all.
/// - `measure first`: the first read of the process, and then those of further domains.
/// - `measure send COUNT` and `measure receive`: from a write in the one to the element of a
///   sequence in the other.
/// - `measure ping COUNT`: a Ping of the service, in the rhythm of these writes: a machine that rests in
///   between takes longer to wake up than for the whole way.
struct Measurement {
    private struct Wrapped: Sendable {
        @Default(.flag) var flag
    }

    private let kind: String
    private let count: Int
    private let clock = ContinuousClock()
    private static let domain = "org.example.Bench"

    init(_ words: ArraySlice<String>) {
        kind = words.first ?? ""
        count = words.dropFirst().first.flatMap { Int($0) } ?? 1
    }

    func go() async {
        do {
            switch kind {
            case "read": try await read(Defaults(domain: Self.domain))
            case "write": try await write(Defaults(domain: Self.domain))
            case "first": first()
            case "send": try await send(Defaults(domain: Self.domain))
            case "ping": try await ping()
            case "receive": await receive(Defaults(domain: Self.domain))
            default: stop("No such kind: \(kind)")
            }
        } catch {
            stop("\(error)")
        }
    }

    private func read(_ defaults: Defaults) async throws {
        defaults[.flag] = true
        try await defaults.flush()
        Defaults.standard = defaults
        let wrapped = Wrapped()
        let reads = 1000
        for _ in 0..<count / reads {
            var seen = 0
            let subscripts = clock.measure {
                for _ in 0..<reads where defaults[.flag] { seen += 1 }
            }
            let wrappers = clock.measure {
                for _ in 0..<reads where wrapped.flag { seen += 1 }
            }
            guard seen == 2 * reads else { stop("The flag is not there.") }
            tell("subscript", subscripts, of: reads)
            tell("wrapper", wrappers, of: reads)
        }
    }

    private func write(_ defaults: Defaults) async throws {
        _ = defaults[.count]
        let began = clock.now
        for number in 1...count { defaults[.count] = number }
        let written = clock.now - began
        try await defaults.flush()
        let flushed = clock.now - began
        tell("write", written, of: count)
        tell("flushed", flushed, of: count)
    }

    private func first() {
        for number in 0..<count {
            let time = clock.measure { _ = Defaults(domain: "\(Self.domain)\(number)")[.flag] }
            tell(number == 0 ? "first-of-process" : "first", time, of: 1)
        }
    }

    /// Sends the time, each when the one before has been taken.
    private func send(_ defaults: Defaults) async throws {
        for _ in 0..<count {
            defaults[.count] = Self.nanoseconds()
            try await defaults.flush()
            usleep(Self.pause)
        }
        defaults[.count] = 0
        try await defaults.flush()
    }

    private func ping() async throws {
        let connection = try await RemoteDefaults.connect().connection
        for _ in 0..<count {
            let began = Self.nanoseconds()
            try await connection.call(
                "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                "org.freedesktop.DBus.Peer", "Ping")
            say("paced-ping \(Double(Self.nanoseconds() - began) / 1000)")
            usleep(Self.pause)
        }
    }

    private static let pause: UInt32 = 500

    private func receive(_ defaults: Defaults) async {
        let changes = defaults.changes(of: .count)
        say("ready 0")
        for await change in changes {
            // Two that come close together are one, so that they cannot be counted.
            if change.newValue == 0 { return }
            let time = Self.nanoseconds() - change.newValue
            say("change \(Double(time) / 1000)")
        }
    }

    /// A clock that all processes of the machine share.
    private static func nanoseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000_000 + now.tv_nsec
    }

    private func tell(_ kind: String, _ time: Duration, of count: Int) {
        let (seconds, attoseconds) = time.components
        let microseconds = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
        say("\(kind) \(microseconds / Double(count))")
    }
}
