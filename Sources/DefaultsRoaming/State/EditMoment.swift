import Glibc

/// When an edit was made, by the clocks of this machine.
///
/// People and time servers set the clock of the wall. So the time since the machine's start counts, as
/// long as it has not been started again.
package struct Moment: Sendable, Hashable {
    /// The identifier of the machine's start, which the kernel makes at random.
    package let boot: [UInt8]
    /// Microseconds since the start, with those of a suspended machine.
    package let sinceBoot: Int64
    /// Microseconds since 1970, by the clock of the wall.
    package let wall: Int64

    package init(boot: [UInt8], sinceBoot: Int64, wall: Int64) {
        self.boot = boot
        self.sinceBoot = sinceBoot
        self.wall = wall
    }

    /// The moment at which this is called.
    package static var now: Moment {
        Moment(
            boot: currentBoot, sinceBoot: microseconds(CLOCK_BOOTTIME),
            wall: microseconds(CLOCK_REALTIME))
    }

    /// How long ago it was, at least 0.
    func age(at now: Moment) -> Duration {
        let difference =
            boot == now.boot && !boot.isEmpty ? now.sinceBoot - sinceBoot : now.wall - wall
        return .microseconds(max(0, difference))
    }

    /// This machine's present start; empty if the kernel does not say.
    private static let currentBoot: [UInt8] = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return ReplicaID(text.split(whereSeparator: \.isWhitespace).first ?? "")?.bytes ?? []
    }()

    private static func microseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// When a key was changed here.
enum EditMoment: Sendable, Hashable {
    /// The value was there before the replica joined.
    case unknown
    /// The value is that of the base, whose time it has: the engine had it once and has lost it.
    case asBase
    /// At a moment by the clocks of this machine.
    case at(Moment)
    /// At a time that the daemon has noted, in microseconds since 1970 by the clock of the wall.
    case noted(Int64)

    /// How long ago that was; nil if nobody knows.
    func age(at now: Moment) -> Duration? {
        switch self {
        case .unknown: nil
        // Older than any base, whose time is then the edit's.
        case .asBase: .seconds(1_000_000_000)
        case .at(let moment): moment.age(at: now)
        case .noted(let wall): .microseconds(max(0, now.wall - wall))
        }
    }
}
