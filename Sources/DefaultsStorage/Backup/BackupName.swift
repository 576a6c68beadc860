internal import DefaultsModel
internal import Glibc

/// The name of a backup's file: `<date and time in UTC>-<generation>-<kind>.db`.
///
/// ```swift
/// BackupName("2026-11-21T194000Z-1234-daily.db")?.generation.rawValue  // 1234
/// ```
struct BackupName: Equatable, CustomStringConvertible {
    static let suffix = ".db"
    private static let dateLength = "2026-11-21T194000Z".utf8.count

    let date: UInt64
    let generation: Generation
    let kind: Backup.Kind

    init(date: UInt64, generation: Generation, kind: Backup.Kind) {
        self.date = date
        self.generation = generation
        self.kind = kind
    }

    /// Reads the name of a file; nil where it is no backup's.
    init?(_ file: String) {
        guard file.hasSuffix(BackupName.suffix) else { return nil }
        let words = file.dropLast(BackupName.suffix.count).utf8.dropFirst(BackupName.dateLength)
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isEmpty,
            let date = BackupName.seconds(String(file.prefix(BackupName.dateLength))),
            let number = UInt64(String(words[1]) ?? ""),
            let generation = Generation(fromFile: number),
            let kind = Backup.Kind(rawValue: String(words[2]) ?? "")
        else { return nil }
        self.init(date: date, generation: generation, kind: kind)
        // What has two spellings would be two backups of one name.
        guard description + BackupName.suffix == file else { return nil }
    }

    /// Without the suffix.
    var description: String {
        "\(BackupName.text(date))-\(generation)-\(kind.rawValue)"
    }

    /// The last second that has a year of four digits.
    private static let lastSecond: UInt64 = 253_402_300_799

    /// The clock of now, kept where a year has four digits.
    static var now: UInt64 { min(UInt64(clamping: time(nil)), lastSecond) }

    private static func text(_ seconds: UInt64) -> String {
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

    /// The date that a text gives; where it makes no sense, another one, which has another text.
    private static func seconds(_ text: String) -> UInt64? {
        let bytes = Array(text.utf8)
        guard bytes.count == dateLength else { return nil }
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
