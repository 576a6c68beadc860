import Glibc
import PropertyList

/// A date and time as people and programs write it on a command line.
///
/// It has a date and optionally, in any order, a day of the week, a time and an offset from UTC. Dates
/// are `2024-02-29`, `2/29/2024`, and a day, the name of a month and a year in any order, or `today`,
/// `yesterday` and `tomorrow`. Names are in English or in the language of the user, so the output of
/// `date` is a date, as are those of RFC 2822. Times are `14:30`, `14:30:59` and `2:30 pm`. Offsets are
/// `+0100`, `+01:00`, `Z`, `UTC`, `GMT`, and the abbreviations of the local zone and of RFC 2822. As on
/// macOS, it is local time without an offset, and noon without a time. `now` is the current time.
struct DateWords {
    private struct Day {
        let year: Int
        let month: Int
        let day: Int
    }

    /// A date of numbers alone, or a day that is named by its distance from today.
    private var date: Day?
    private var dayOfMonth: Int?
    private var year: Int?
    /// The words of letters, which name a month, a day of the week or a zone.
    private var names: [String] = []
    private var time: (hour: Int, minute: Int, second: Double)?
    private var offset: Int?

    /// The moment in seconds since 2001-01-01 00:00:00 UTC; nil if the words are not a date.
    static func read(_ words: String) -> Double? {
        // This spelling keeps all digits of a fraction.
        if let seconds = ISODate.seconds(of: words) { return seconds }
        let text = withoutComment(words.lowercased())
        if text == "now" {
            return Double(Defaultsctl.console.now.tv_sec - CalendarDate.referenceSince1970)
        }
        var reader = DateWords()
        guard reader.take(text) else { return nil }
        return reader.seconds
    }

    /// The text without the comment at its end that mail has: `+0100 (CET)`.
    private static func withoutComment(_ text: String) -> Substring {
        let text = text.trimmed
        guard text.last == ")", let start = text.lastIndex(of: "(") else { return text }
        return text[..<start].trimmed
    }
}

// MARK: Words

extension DateWords {
    /// Reads all words; false if a word has no meaning, or if two words say the same thing.
    private mutating func take(_ text: Substring) -> Bool {
        var rest = Self.words(of: text)[...]
        while let word = rest.popFirst() {
            guard
                takeTime(word, before: &rest) || takeOffset(word) || takeDate(word)
                    || takeNumber(word) || takeName(word)
            else { return false }
        }
        return true
    }

    private static func words(of text: Substring) -> [Substring] {
        text.split(whereSeparator: \.isWhitespace).flatMap { word -> [Substring] in
            // The T between date and time is the only one in words with digits.
            let parts = word.split(separator: "t", maxSplits: 1, omittingEmptySubsequences: false)
            let isMoment =
                parts.count == 2 && parts[0].last?.isNumber == true
                && parts[1].first?.isNumber == true
            return (isMoment ? parts : [word]).flatMap { part in
                // In a time, a comma is before the fraction.
                part.contains(":") && part.last != "," ? [part] : part.split(separator: ",")
            }
        }
    }

    private mutating func takeDate(_ word: Substring) -> Bool {
        guard date == nil else { return false }
        if let days = ["yesterday": -1, "today": 0, "tomorrow": 1][word] {
            date = Self.day(days)
            return true
        }
        if let numbers = Self.numbers(word, separator: "-"), numbers.count == 3 {
            date = Day(year: numbers[0], month: numbers[1], day: numbers[2])
            return word.prefix { $0 != "-" }.count == 4
        }
        if let numbers = Self.numbers(word, separator: "/"), numbers.count == 3 {
            // The order of the United States: month, day, year.
            date = Day(year: numbers[2], month: numbers[0], day: numbers[1])
            return word.reversed().prefix { $0 != "/" }.count == 4
        }
        // 29-Feb-2024
        let parts = word.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 3 && takeNumber(parts[0]) && takeName(parts[1])
            && takeNumber(parts[2])
    }

    private static func day(_ days: Int) -> Day {
        var (now, parts) = (Defaultsctl.console.now.tv_sec, tm())
        localtime_r(&now, &parts)
        parts.tm_mday += Int32(days)
        parts.tm_hour = 12
        parts.tm_isdst = -1
        _ = mktime(&parts)
        return Day(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1,
            day: Int(parts.tm_mday))
    }

    /// Reads the day of a month, as in `29`, `29.`, `29th` and `29日`, or a year of four digits.
    private mutating func takeNumber(_ word: Substring) -> Bool {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        let ending = word.dropFirst(digits.count)
        guard let number = Int(digits) else { return false }
        if digits.count == 4, ["", "年"].contains(ending), year == nil {
            year = number
            return true
        }
        guard digits.count <= 2, dayOfMonth == nil,
            ["", ".", "st", "nd", "rd", "th", "日"].contains(ending)
        else { return false }
        dayOfMonth = number
        return true
    }

    /// The most names of a date: of a day of the week, a month and a zone.
    private static let mostNames = 3

    private mutating func takeName(_ word: Substring) -> Bool {
        let name = DateNames.plain(word)
        // In some languages, the name of a month begins with its number.
        let isName = word.first?.isLetter == true || !DateNames.months(named: name).isEmpty
        guard isName, names.count < Self.mostNames else { return false }
        names.append(name)
        return true
    }

    private mutating func takeTime(_ word: Substring, before rest: inout ArraySlice<Substring>)
        -> Bool
    {
        guard word.first?.isNumber == true, word.contains(":"), time == nil else { return false }
        // An offset, or "am" or "pm", may follow without a space.
        let clock = word.prefix { $0.isNumber || ":.,".contains($0) }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), var hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = parts.count == 3 ? Double(parts[2].replacing(",", with: ".")) : 0,
            (0..<24).contains(hour), (0..<60).contains(minute), second < 60
        else { return false }
        var half = DateNames.plain(word.dropFirst(clock.count))
        if half.isEmpty, let next = rest.first.map(DateNames.plain), Self.halves.contains(next) {
            half = next
            rest.removeFirst()
        }
        if Self.halves.contains(half) {
            guard (1...12).contains(hour) else { return false }
            hour = hour % 12 + (half == "pm" ? 12 : 0)
            half = ""
        }
        time = (hour, minute, second)
        return half.isEmpty || takeOffset(half[...]) || takeName(half[...])
    }

    private static let halves = ["am", "pm"]

    private mutating func takeOffset(_ word: Substring) -> Bool {
        guard offset == nil else { return false }
        if ["z", "utc", "gmt", "ut"].contains(word) {
            offset = 0
            return true
        }
        guard let sign = word.first, sign == "+" || sign == "-" else { return false }
        let digits = word.dropFirst().filter { $0 != ":" }
        guard [2, 4].contains(digits.count), digits.allSatisfy(\.isNumber),
            let number = Int(digits.count == 2 ? digits + "00" : digits), number % 100 < 60,
            number < 2400
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

// MARK: The moment

extension DateWords {
    private var seconds: Double? {
        if let date {
            guard year == nil, dayOfMonth == nil else { return nil }
            return seconds(of: date, others: names)
        }
        guard let year, let dayOfMonth else { return nil }
        for (place, name) in names.enumerated() {
            var others = names
            others.remove(at: place)
            for month in DateNames.months(named: name) {
                let date = Day(year: year, month: month, day: dayOfMonth)
                if let seconds = seconds(of: date, others: others) { return seconds }
            }
        }
        return nil
    }

    /// The moment of a date; nil if the other names do not fit it.
    ///
    /// - Parameter others: The names of the day of the week and of the zone, if they are given.
    private func seconds(of date: Day, others: [String]) -> Double? {
        guard let noon = CalendarDate(Self.spelling(of: date, 12, 0, 0)) else { return nil }
        let dayNumber = Int((noon.secondsSince2001 / 86_400).rounded(.down))
        // The first day of 2001 was a Monday.
        let weekday = ((dayNumber + 1) % 7 + 7) % 7
        let zones = others.filter { !DateNames.weekdays(named: $0).contains(weekday) }
        guard others.count - zones.count <= 1, zones.count <= 1 else { return nil }
        guard let zone = zones.first else { return seconds(of: date, in: offset) }
        guard offset == nil, time != nil else { return nil }
        return localSeconds(of: date, in: zone)
            ?? DateNames.offsets[zone].flatMap { seconds(of: date, in: $0 * 3600) }
    }

    /// - Parameter offset: In seconds; nil for local time.
    private func seconds(of date: Day, in offset: Int?) -> Double? {
        guard let offset else { return localSeconds(of: date, in: nil) }
        let (hour, minute, second) = clock
        let spelling = Self.spelling(of: date, hour, minute, Int(second))
        // It must be a day of the calendar, whatever the zone.
        guard let calendar = CalendarDate(spelling) else { return nil }
        return calendar.secondsSince2001 - Double(offset) + (second - second.rounded(.down))
    }

    /// The moment in local time.
    ///
    /// - Parameter zone: The abbreviation that the zone must have then, which decides when a clock shows
    ///   an hour twice; nil for any.
    private func localSeconds(of date: Day, in zone: String?) -> Double? {
        let (hour, minute, second) = clock
        for isSummer in zone == nil ? [-1] : [0, 1] as [Int32] {
            var parts = tm()
            parts.tm_year = Int32(clamping: date.year - 1900)
            parts.tm_mon = Int32(date.month - 1)
            parts.tm_mday = Int32(date.day)
            parts.tm_hour = Int32(hour)
            parts.tm_min = Int32(minute)
            parts.tm_sec = Int32(second)
            parts.tm_isdst = isSummer
            let moment = mktime(&parts)
            let isMeant = zone == nil || parts.tm_isdst == isSummer && Self.zone(of: parts) == zone
            if isMeant {
                return Double(moment - CalendarDate.referenceSince1970)
                    + (second - second.rounded(.down))
            }
        }
        return nil
    }

    private var clock: (hour: Int, minute: Int, second: Double) { time ?? (12, 0, 0) }

    private static func zone(of parts: tm) -> String? {
        parts.tm_zone.map { DateNames.plain(String(cString: $0).lowercased()[...]) }
    }

    private static func spelling(
        of date: Day, _ hour: Int, _ minute: Int, _ second: Int
    ) -> String {
        "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))T"
            + "\(digits(hour)):\(digits(minute)):\(digits(second))Z"
    }

    private static func digits(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    fileprivate var trimmed: Substring {
        let start = drop(while: \.isWhitespace)
        let end = start.reversed().prefix(while: \.isWhitespace).count
        return Substring(start.dropLast(end))
    }
}
