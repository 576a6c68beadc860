import Glibc
import PropertyList

/// A date and time as people write it on a command line.
///
/// It has a date and optionally, in any order, a time and an offset from UTC. Dates are
/// `2024-02-29`, `2/29/2024`, `29 Feb 2024` and `February 29, 2024`, or `today`, `yesterday` and
/// `tomorrow`. Times are `14:30`, `14:30:59` and `2:30 pm`. Offsets are `+0100`, `+01:00`, `Z`,
/// `UTC` and `GMT`. As on macOS, it is local time without an offset, and noon without a time. `now`
/// is the current time.
struct DateWords {
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]

    private var date: (year: Int, month: Int, day: Int)?
    private var time: (hour: Int, minute: Int, second: Double)?
    private var offset: Int?

    /// The moment in seconds since 2001-01-01 00:00:00 UTC; nil if the words are not a date.
    static func read(_ words: String) -> Double? {
        // This spelling keeps all digits of a fraction.
        if let seconds = ISODate.seconds(of: words) { return seconds }
        let text = words.lowercased()
        if text == "now" { return Double(Glibc.time(nil) - CalendarDate.referenceSince1970) }
        var reader = DateWords()
        guard reader.take(text) else { return nil }
        return reader.seconds
    }

    private var seconds: Double? {
        guard let date else { return nil }
        let (hour, minute, second) = time ?? (12, 0, 0)
        let whole = Int(second)
        let spelling =
            "\(Self.digits(date.year, 4))-\(Self.digits(date.month))-\(Self.digits(date.day))T"
            + "\(Self.digits(hour)):\(Self.digits(minute)):\(Self.digits(whole))Z"
        // It must be a day of the calendar, whatever the zone.
        guard let calendar = CalendarDate(spelling) else { return nil }
        let fraction = second - Double(whole)
        if let offset { return calendar.secondsSince2001 - Double(offset) + fraction }
        var parts = tm()
        parts.tm_year = Int32(clamping: date.year - 1900)
        parts.tm_mon = Int32(date.month - 1)
        parts.tm_mday = Int32(date.day)
        parts.tm_hour = Int32(hour)
        parts.tm_min = Int32(minute)
        parts.tm_sec = Int32(whole)
        parts.tm_isdst = -1
        return Double(mktime(&parts) - CalendarDate.referenceSince1970) + fraction
    }

    private static func digits(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

// MARK: Words

extension DateWords {
    /// Reads all words; false if a word has no meaning, or if two words say the same thing.
    private mutating func take(_ text: String) -> Bool {
        // The T between date and time is the only one in words with digits.
        var words: [Substring] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
            let parts = word.split(separator: "t", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0].last?.isNumber == true, parts[1].first?.isNumber == true {
                words += parts
            } else {
                words.append(word)
            }
        }
        var rest = words[...]
        while let word = rest.popFirst() {
            guard takeTime(word, before: &rest) || takeZone(word) || takeDate(word, before: &rest)
            else { return false }
        }
        return true
    }

    private mutating func takeDate(_ word: Substring, before rest: inout ArraySlice<Substring>)
        -> Bool
    {
        guard date == nil else { return false }
        if let days = ["yesterday": -1, "today": 0, "tomorrow": 1][word] {
            date = Self.day(days)
            return true
        }
        if let numbers = Self.numbers(word, separator: "-"), numbers.count == 3 {
            date = (numbers[0], numbers[1], numbers[2])
            return word.prefix { $0 != "-" }.count == 4
        }
        if let numbers = Self.numbers(word, separator: "/"), numbers.count == 3 {
            // The order of the United States: month, day, year.
            date = (numbers[2], numbers[0], numbers[1])
            return word.reversed().prefix { $0 != "/" }.count == 4
        }
        return takeNamedMonth(word, before: &rest)
    }

    /// Reads a day and the name of a month, in either order, and the year.
    private mutating func takeNamedMonth(
        _ word: Substring, before rest: inout ArraySlice<Substring>
    ) -> Bool {
        guard let second = rest.popFirst(), let third = rest.popFirst(),
            third.count == 4, let year = Int(third)
        else { return false }
        if let month = Self.month(word), let day = Int(second) {
            date = (year, month, day)
        } else if let month = Self.month(second), let day = Int(word) {
            date = (year, month, day)
        }
        return date != nil
    }

    private static func month(_ word: Substring) -> Int? {
        guard word.count >= 3 else { return nil }
        return months.firstIndex { $0.hasPrefix(word) }.map { $0 + 1 }
    }

    private static func day(_ days: Int) -> (Int, Int, Int) {
        var (now, parts) = (Glibc.time(nil), tm())
        localtime_r(&now, &parts)
        parts.tm_mday += Int32(days)
        parts.tm_hour = 12
        parts.tm_isdst = -1
        _ = mktime(&parts)
        return (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
    }

    private mutating func takeTime(_ word: Substring, before rest: inout ArraySlice<Substring>)
        -> Bool
    {
        guard word.first?.isNumber == true, word.contains(":"), time == nil else { return false }
        // An offset, or "am" or "pm", may follow without a space.
        let clock = word.prefix { $0.isNumber || $0 == ":" || $0 == "." }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), var hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = parts.count == 3 ? Double(parts[2]) : 0, (0..<24).contains(hour),
            (0..<60).contains(minute), second < 60
        else { return false }
        var half = word.dropFirst(clock.count)
        if half.isEmpty, rest.first == "am" || rest.first == "pm" { half = rest.removeFirst() }
        if half == "am" || half == "pm" {
            guard (1...12).contains(hour) else { return false }
            hour = hour % 12 + (half == "pm" ? 12 : 0)
            half = ""
        }
        time = (hour, minute, second)
        return half.isEmpty || takeZone(half)
    }

    private mutating func takeZone(_ word: Substring) -> Bool {
        guard offset == nil else { return false }
        if ["z", "utc", "gmt"].contains(word) {
            offset = 0
            return true
        }
        guard let sign = word.first, sign == "+" || sign == "-" else { return false }
        let digits = word.dropFirst().filter { $0 != ":" }
        guard digits.count == 4, digits.allSatisfy(\.isNumber), let number = Int(digits),
            number % 100 < 60, number < 2400
        else { return false }
        offset = (number / 100 * 60 + number % 100) * (sign == "-" ? -60 : 60)
        return true
    }

    private static func numbers(_ word: Substring, separator: Character) -> [Int]? {
        let parts = word.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part) : nil
        }
        return numbers.count == parts.count ? numbers : nil
    }
}
