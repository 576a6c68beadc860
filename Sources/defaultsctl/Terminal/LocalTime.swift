@preconcurrency import Glibc
import PropertyList

/// A moment in local time.
struct LocalTime {
    private let seconds: UInt64

    /// - Parameter seconds: The moment in seconds since 1970.
    init(_ seconds: UInt64) {
        self.seconds = seconds
    }

    /// A form that people of every country can read: `2026-11-21 19:40:00`.
    var text: String {
        var (seconds, parts) = (time_t(clamping: seconds), tm())
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A moment in a form for programs.
struct UniversalTime {
    private let seconds: UInt64

    /// - Parameter seconds: The moment in seconds since 1970.
    init(_ seconds: UInt64) {
        self.seconds = seconds
    }

    /// In ISO 8601: `2026-11-21T19:40:00Z`.
    ///
    /// If no calendar has the moment, only the number.
    var text: String {
        let reference = Double(CalendarDate.referenceSince1970)
        let date = CalendarDate(secondsSince2001: Double(seconds) - reference)
        return date?.description ?? "\(seconds)"
    }
}
