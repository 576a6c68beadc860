@preconcurrency import Glibc
import PropertyList

/// A time of the past as people write it: how long ago it was, or the day with or without the time of
/// day.
///
/// ```
/// 90s  10m  10min  2h  3d  1w             that long ago
/// today  yesterday                        the beginning of the day
/// today 9:30  yesterday 18:00  9:30       a time of that day
/// 2026-11-01  2026-11-01 14:00            local time; at the beginning of the day without a time of day
/// 2026-11-01T14:00:00Z                    as JSON has it
/// boot                                    the start of the machine
/// ```
///
/// 1. If a clock shows the time twice, because it was put back, the later one counts.
/// 2. If no clock has shown it, because it was put forward, it is as long after the change as the clock
///    would have shown.
struct PastTime: Hashable {
    /// In seconds since 1970.
    let seconds: Int64

    /// The present time, and the zone.
    struct Clock: Sendable {
        /// In seconds since 1970.
        let now: Int64
        /// How long the machine has been running, in seconds.
        let uptime: Int64
        /// How far the clocks are ahead of UTC at a moment, in seconds.
        let offset: @Sendable (_ moment: Int64) -> Int64

        /// The time of the console, and the zone of this process.
        static var current: Clock {
            var uptime = timespec()
            clock_gettime(CLOCK_BOOTTIME, &uptime)
            return Clock(
                now: Int64(Defaultsctl.console.now.tv_sec), uptime: Int64(uptime.tv_sec)
            ) { moment in
                var (moment, parts) = (time_t(moment), tm())
                localtime_r(&moment, &parts)
                return Int64(parts.tm_gmtoff)
            }
        }
    }

    /// Reads what a person has written.
    ///
    /// - Parameters:
    ///   - words: Case does not matter.
    ///   - option: The option that takes it, for messages.
    /// - Throws: `ToolError` if it is not a time, or is in the future.
    init(
        _ words: String, of option: String, by clock: Clock = .current
    ) throws(ToolError) {
        let text = words.lowercased().split(separator: " ").joined(separator: " ")
        guard text.isEmpty || !text.utf8.allSatisfy(\.isDigit) else {
            throw .bareNumberForTime(words, option)
        }
        guard let seconds = Self.distance(text, by: clock) ?? Self.moment(text, by: clock) else {
            throw .noTime(words, option)
        }
        guard seconds <= clock.now else { throw .futureTime(words, option) }
        self.seconds = seconds
    }

    /// The seconds of each unit.
    private static let units: [Character: Int64] = [
        "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800,
    ]

    /// Some times, for completion.
    static let examples = ["10m", "1h", "today", "yesterday", "boot"]

    /// What is said by its distance from now, or from the start of the machine.
    private static func distance(_ text: String, by clock: Clock) -> Int64? {
        if text == "now" { return clock.now }
        if text == "boot" { return clock.now - clock.uptime }
        let text = text.hasSuffix("min") ? String(text.dropLast(2)) : text
        guard let unit = text.last.flatMap({ units[$0] }),
            text.utf8.dropLast().allSatisfy(\.isDigit),
            let number = Int64(text.dropLast())
        else { return nil }
        let (length, isTooLong) = number.multipliedReportingOverflow(by: unit)
        // Nothing was changed before 1970.
        return isTooLong || length > clock.now ? 0 : clock.now - length
    }

    /// What is said by a day and the time of day.
    private static func moment(_ text: String, by clock: Clock) -> Int64? {
        let parts = split(text)
        guard let (day, offset) = parts.flatMap({ daySeconds($0.day, of: $0.time, by: clock) })
        else { return nil }
        guard let offset else { return local(day, by: clock) }
        return day - offset
    }

    /// The words for the day and for the time of day, either of which may be empty.
    private static func split(_ text: String) -> (day: Substring, time: Substring)? {
        let words = text.split(separator: " ")
        switch words.count {
        case 1 where words[0].contains("-") && words[0].contains("t"):
            let halves = words[0].split(separator: "t", omittingEmptySubsequences: false)
            return halves.count == 2 && !halves[1].isEmpty ? (halves[0], halves[1]) : nil
        case 1: return words[0].contains(":") ? ("", words[0]) : (words[0], "")
        case 2: return (words[0], words[1])
        default: return nil
        }
    }

    /// What the clock shows, as if it were in UTC, and how far it is ahead of UTC if that is said.
    private static func daySeconds(
        _ day: Substring, of time: Substring, by clock: Clock
    ) -> (seconds: Int64, offset: Int64?)? {
        guard let midnight = midnight(of: day, by: clock) else { return nil }
        guard !time.isEmpty else { return (midnight, nil) }
        let digits = time.prefix { $0.isASCII && $0.isNumber || $0 == ":" }
        guard let second = secondOfDay(digits),
            let offset = offset(time.dropFirst(digits.count))
        else { return nil }
        return (midnight + second, offset.isGiven ? offset.seconds : nil)
    }

    private static func midnight(of day: Substring, by clock: Clock) -> Int64? {
        let shown = clock.now + clock.offset(clock.now)
        let today = shown - (shown % 86_400 + 86_400) % 86_400
        switch day {
        case "", "today": return today
        case "yesterday": return today - 86_400
        default:
            return CalendarDate("\(day)T00:00:00Z").map {
                Int64($0.secondsSince2001) + Int64(CalendarDate.referenceSince1970)
            }
        }
    }

    /// Reads `9:30` and `14:00:59`.
    private static func secondOfDay(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { (1...2).contains($0.utf8.count) ? Int64($0) : nil }
        guard numbers.count == parts.count, (2...3).contains(numbers.count), numbers[0] < 24,
            numbers[1] < 60, numbers.count == 2 || numbers[2] < 60
        else { return nil }
        return numbers[0] * 3_600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
    }

    /// Reads `Z`, `+01:00` and `-0330`, or nothing.
    private static func offset(_ text: Substring) -> (isGiven: Bool, seconds: Int64)? {
        guard let sign = text.first else { return (false, 0) }
        if text == "z" { return (true, 0) }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard sign == "+" || sign == "-", digits.utf8.count == 4,
            digits.utf8.allSatisfy(\.isDigit), let number = Int64(digits), number % 100 < 60
        else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return (true, sign == "-" ? -seconds : seconds)
    }

    /// The moment at which clocks show a time.
    ///
    /// - Parameter shown: The time that they show, in seconds since 1970 as if it were in UTC.
    private static func local(_ shown: Int64, by clock: Clock) -> Int64 {
        // No two changes of clocks are as close together as that.
        let before = clock.offset(shown - 86_400)
        let offsets = [before, clock.offset(shown + 86_400)]
        let moments = offsets.map { shown - $0 }.filter { $0 + clock.offset($0) == shown }
        return moments.max() ?? shown - before
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension ToolError {
    private static let timeForms =
        "Write how long ago it was, such as 10m, 2h or 3d, or today, yesterday, 9:30, 'yesterday 18:00', 2026-11-01, '2026-11-01 14:00' or boot."

    fileprivate static func bareNumberForTime(_ words: String, _ option: String) -> ToolError {
        ToolError(
            "\(option) takes a time, and '\(words.inBrief)' has no unit. \(timeForms)", wrongLine)
    }

    fileprivate static func noTime(_ words: String, _ option: String) -> ToolError {
        ToolError(
            "\(option) takes a time, and '\(words.inBrief)' is not one. \(timeForms)", wrongLine)
    }

    fileprivate static func futureTime(_ words: String, _ option: String) -> ToolError {
        ToolError(
            "\(option) takes a time of the past, and '\(words.inBrief)' is in the future.",
            wrongLine)
    }
}
