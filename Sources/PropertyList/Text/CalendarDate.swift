/// A date of a property list as people write it: a second of the Gregorian calendar, in UTC.
///
/// The calendar is used for all years, also before its introduction. The year before 1 is 0.
package struct CalendarDate: Hashable, Sendable {
    /// The year, negative before the year 0.
    package let year: Int
    /// The month, from 1.
    package let month: Int
    /// The day of the month, from 1.
    package let day: Int
    /// The hour, the minute and the second, each from 0.
    package let hour, minute, second: Int

    /// 2001-01-01 00:00:00 UTC, in seconds since 1970.
    package static let referenceSince1970 = 978_307_200

    private static let secondsPerDay = 86_400
    /// 2001-01-01, in days since March 1 of the year 0.
    private static let referenceDay = 730_791
    /// The number of days in 400 years, after which the calendar repeats.
    private static let daysPerEra = 146_097
    private static let secondsLimit = 2_840_000_000_000_000

    /// The second that contains a moment.
    ///
    /// Nil if the number is not finite, or is more than 90 million years away, where a double
    /// cannot represent seconds.
    package init?(secondsSince2001 seconds: Double) {
        let whole = seconds.rounded(.down)
        guard let total = Int(exactly: whole), total.magnitude < Self.secondsLimit else {
            return nil
        }
        let (dayNumber, secondOfDay) = total.floored(dividingBy: Self.secondsPerDay)
        // The year begins in March here, so a leap day is its last day.
        let (era, dayOfEra) = (dayNumber + Self.referenceDay).floored(dividingBy: Self.daysPerEra)
        let leapDays = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / (Self.daysPerEra - 1)
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on, every five months have 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = 400 * era + yearOfEra + (month <= 2 ? 1 : 0)
        hour = secondOfDay / 3_600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
    }

    /// Reads a date in the form `2024-02-29T12:00:00Z`; nil if it has another form or does not
    /// exist.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let yearDigits = rest.prefix { $0 != UInt8(ascii: "-") }.count
        guard (4...8).contains(yearDigits),
            let year = rest.number(ofDigits: yearDigits),
            let month = rest.number(after: "-"), (1...12).contains(month),
            let day = rest.number(after: "-"), day >= 1,
            let hour = rest.number(after: "T"), hour < 24,
            let minute = rest.number(after: ":"), minute < 60,
            let second = rest.number(after: ":"), second < 60,
            rest.elementsEqual("Z".utf8)
        else { return nil }
        self.year = isNegative ? -year : year
        (self.month, self.day) = (month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        // The day exists in that month if the conversion back gives the same date.
        guard let same = CalendarDate(secondsSince2001: secondsSince2001), same == self else {
            return nil
        }
    }

    /// The beginning of the second, in seconds since 2001-01-01 00:00:00 UTC.
    package var secondsSince2001: Double {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = yearFromMarch.floored(dividingBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let dayNumber = era * Self.daysPerEra + dayOfEra - Self.referenceDay
        return Double(dayNumber * Self.secondsPerDay + hour * 3_600 + minute * 60 + second)
    }
}

extension CalendarDate: CustomStringConvertible {
    /// The date in ISO 8601, such as `2024-02-29T12:00:00Z`.
    package var description: String {
        let yearDigits = (year < 0 ? "-" : "") + Self.digits(abs(year), 4)
        let date = [month, day].map { "-" + Self.digits($0, 2) }.joined()
        let time = [hour, minute, second].map { Self.digits($0, 2) }.joined(separator: ":")
        return "\(yearDigits)\(date)T\(time)Z"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension Int {
    /// The quotient rounded down, and the remainder, which is not negative.
    fileprivate func floored(dividingBy divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension ArraySlice<UInt8> {
    /// Reads a number of two digits after a character.
    fileprivate mutating func number(after character: Unicode.Scalar) -> Int? {
        guard let first, Unicode.Scalar(first) == character else { return nil }
        removeFirst()
        return number(ofDigits: 2)
    }

    fileprivate mutating func number(ofDigits count: Int) -> Int? {
        let digits = prefix(count)
        guard digits.count == count,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        removeFirst(count)
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
