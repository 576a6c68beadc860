@preconcurrency import Glibc

/// A moment by the clock on the wall.
struct LocalTime {
    private let seconds: UInt64

    /// - Parameter seconds: The moment in seconds since 1970.
    init(_ seconds: UInt64) {
        self.seconds = seconds
    }

    /// The moment as people of every country read it: `2026-11-21 19:40:00`.
    var text: String {
        var (seconds, parts) = (time_t(clamping: seconds), tm())
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A moment as programs read it.
struct UniversalTime {
    private let seconds: time_t

    /// - Parameter seconds: The moment in seconds since 1970.
    init(_ seconds: UInt64) {
        self.seconds = time_t(clamping: seconds)
    }

    /// A date of a property list, to the second; nil for one that no calendar has.
    init?(secondsSince2001: Double) {
        let toEpoch = 978_307_200.0
        guard let seconds = Int64(exactly: (secondsSince2001 + toEpoch).rounded(.down)),
            // Years of four digits.
            (-62_167_219_200..<253_402_300_800) ~= seconds
        else { return nil }
        self.seconds = time_t(seconds)
    }

    /// As ISO 8601 has it: `2026-11-21T19:40:00Z`.
    var text: String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
