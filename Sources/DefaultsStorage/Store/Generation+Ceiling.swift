internal import DefaultsModel
internal import Glibc

extension Generation {
    /// How far above the durable generation the durable ceiling stands: 2^20.
    static let ceilingDistance: UInt64 = 1 << 20

    /// The largest generation that a file may claim.
    ///
    /// Counting on from there does not overflow, and no database gets there: at a million changes a
    /// second it takes 70 000 years.
    static let largestInFile = Generation.first.advanced(by: (1 << 61) - 1)

    /// The number up to which generations may be given once this one is on disk.
    ///
    /// A crafted file may claim the largest one. Then no more are given, as no file could keep them.
    var ceiling: Generation {
        min(advanced(by: Generation.ceilingDistance), .largestInFile)
    }

    /// The number to go on from after a ceiling: above it and above all that were ever given.
    static func landing(above ceiling: Generation) -> Generation {
        min(max(ceiling.advanced(by: 1), .now), .largestInFile)
    }

    /// The time in microseconds since 1970, as a number above all that were ever given.
    ///
    /// A clock that is far off is taken for one that stands still.
    static var now: Generation {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, nanoseconds) = (UInt64(clamping: time.tv_sec), UInt64(time.tv_nsec))
        let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow, microseconds < 1 << 60 else { return .first }
        return Generation(rawValue: microseconds + nanoseconds / 1000) ?? .first
    }

    /// Takes a number that a file claims to be a generation; nil where it can be none.
    init?(fromFile rawValue: UInt64) {
        guard rawValue <= Generation.largestInFile.rawValue else { return nil }
        self.init(rawValue: rawValue)
    }

    /// Takes a column of the store; nil where it can be no generation.
    init?(column: Int64) {
        guard let rawValue = UInt64(exactly: column) else { return nil }
        self.init(fromFile: rawValue)
    }

    /// The form in which the store keeps it; none is above 2^62.
    var column: Int64 { Int64(rawValue) }
}
