internal import Glibc

/// A moment as it stands in the names of files: `2026-11-21T194000Z`, in UTC.
enum Timestamp {
    /// The length of every one.
    static let length = "2026-11-21T194000Z".utf8.count
    /// The last second that has a year of four digits.
    private static let lastSecond: UInt64 = 253_402_300_799

    /// The clock of now in seconds since 1970, kept where a year has four digits.
    static var now: UInt64 { min(UInt64(clamping: time(nil)), lastSecond) }

    /// The text of a moment in seconds since 1970.
    static func text(_ seconds: UInt64) -> String {
        var (time, parts) = (time_t(min(seconds, lastSecond)), tm())
        gmtime_r(&time, &parts)
        func digits(_ number: Int32, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        let day = [digits(parts.tm_year + 1900, 4), digits(parts.tm_mon + 1, 2)]
        return day.joined(separator: "-") + "-" + digits(parts.tm_mday, 2) + "T"
            + [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined() + "Z"
    }
}
