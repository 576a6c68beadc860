internal import Glibc

/// A moment as it is written in the names of files: `2026-11-21T194000Z`, in UTC.
enum Timestamp {
    /// The length of every one.
    static let length = "2026-11-21T194000Z".utf8.count
    /// The last second that has a year of four digits.
    static let lastSecond: UInt64 = 253_402_300_799

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

    /// The moment that a text gives.
    ///
    /// For a text that makes no sense it gives a moment with another text.
    static func seconds(_ text: String) -> UInt64? {
        let bytes = Array(text.utf8)
        guard bytes.count == length else { return nil }
        func number(_ range: Range<Int>) -> Int32? {
            Int32(String(decoding: bytes[range], as: UTF8.self))
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(13..<15), let second = number(15..<17)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        return UInt64(exactly: timegm(&parts))
    }
}
