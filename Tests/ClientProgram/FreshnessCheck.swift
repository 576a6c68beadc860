import DefaultsClient
import Glibc
import Synchronization

/// One of two processes that write in turn, and check that what they read is never older than what was
/// acknowledged: `fresh DIRECTORY SIDE ROUNDS READS`.
///
/// In each round one side, the writer, sets a number and waits until the service has taken it. Then
/// it stores the number in memory that both share, and says so through a pipe. The other side reads all
/// that time: no value may be less than what the shared word held before the read.
///
/// A read waits for the service for two seconds, and no read after it waits until there is an answer. On
/// a busy machine, a service that starts may need longer. So a value may be old if its read has waited
/// in vain, and until there is an answer.
///
/// The program ends with 1 where one was stale. It prints how many reads it has checked.
struct FreshnessCheck {
    private let defaults = Defaults(domain: "org.example.Fresh")
    /// 0 writes first.
    private let side: Int
    private let rounds: Int
    private let reads: Int
    private let acknowledged: UnsafePointer<Atomic<Int>>
    private let base: UnsafeMutableRawPointer
    /// How long a read waits for the service.
    private static let longestWait = Duration.seconds(2)
    private let (hears, tells): (Int32, Int32)

    init(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard let side = Int(words[1]), let rounds = Int(words[2]), let reads = Int(words[3]) else {
            stop("Not numbers: \(words)")
        }
        (self.side, self.rounds, self.reads) = (side, rounds, reads)
        let file = open("\(words[0])/acknowledged", O_RDWR)
        // Each end is open for both, so that nobody waits for the other to come.
        hears = open("\(words[0])/to-\(side)", O_RDWR)
        tells = open("\(words[0])/to-\(1 - side)", O_RDWR)
        guard file >= 0, hears >= 0, tells >= 0,
            let base = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            base != MAP_FAILED
        else { stop("No files in \(words[0])") }
        self.base = base
        acknowledged = UnsafePointer(base.assumingMemoryBound(to: Atomic<Int>.self))
    }

    func go() async {
        var checked = 0
        for round in 1...rounds {
            if round % 2 == side {
                checked += read(until: round)
            } else {
                await write(round)
            }
        }
        say("checked \(checked)")
    }

    private func write(_ round: Int) async {
        defaults[.count] = round
        do {
            try await defaults.flush(within: .seconds(3600))
        } catch {
            stop("Round \(round): \(error)")
        }
        acknowledged.pointee.store(round, ordering: .releasing)
        var byte: UInt8 = 0
        Glibc.write(tells, &byte, 1)
    }

    /// Reads until a number is acknowledged, and a fifth of the reads after that.
    private func read(until round: Int) -> Int {
        let before = reads * 4 / 5
        for _ in 0..<before { check() }
        var byte: UInt8 = 0
        guard Glibc.read(hears, &byte, 1) == 1 else { stop("The other side has gone.") }
        for _ in before..<reads { check() }
        return reads
    }

    private func check() {
        let least = acknowledged.pointee.load(ordering: .acquiring)
        let (wasSilent, start) = (isSilent, ContinuousClock.now)
        let value = defaults[.count]
        let isInVain = wasSilent || .now - start >= Self.longestWait
        guard value >= least || isInVain else {
            say("stale: \(value) was read when \(least) was acknowledged")
            exit(1)
        }
    }

    /// Whether an earlier read has waited in vain, and the service has not answered since.
    private var isSilent: Bool {
        guard case .unreachable(let reason) = defaults.state else { return false }
        return reason.contains("has not answered within")
    }
}
