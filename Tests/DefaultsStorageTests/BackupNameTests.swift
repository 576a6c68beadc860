import DefaultsModel
import Foundation
import Testing

@testable import DefaultsStorage

@Suite struct BackupNameTests {
    @Test(
        "A name has date, generation and kind, and can be parsed again",
        arguments: [
            ("1970-01-01T000000Z-1-daily", 0, 1, Backup.Kind.daily),
            ("2000-02-29T235959Z-7-manual", 951_868_799, 7, .manual),
            ("2026-11-21T194000Z-1234567-daily", 1_795_290_000, 1_234_567, .daily),
            ("9999-12-31T235959Z-2305843009213693952-manual", 253_402_300_799, 1 << 61, .manual),
        ] as [(String, UInt64, UInt64, Backup.Kind)])
    func spelling(text: String, date: UInt64, generation: UInt64, kind: Backup.Kind) throws {
        let name = BackupName(
            date: date, generation: try #require(Generation(rawValue: generation)), kind: kind)
        #expect(name.description == text)
        #expect(BackupName(text + ".db") == name)
        let formatter = ISO8601DateFormatter()
        let standard = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(date)))
        #expect(text.hasPrefix(standard.replacing(":", with: "")))
    }

    @Test(
        "A name in another form is not that of a backup",
        arguments: [
            "", ".db", "backup.unfinished", "defaults.db", "1970-01-01T000000Z-1-daily",
            "1970-01-01T000000Z-1-daily.db-wal", "1970-01-01T000000Z-0-daily.db",
            "1970-01-01T000000Z-01-daily.db", "1970-01-01T000000Z-+1-daily.db",
            "1970-01-01T000000Z-1-weekly.db", "1970-01-01T000000Z-1.db",
            "1970-01-01T000000Z-1-daily-2.db", "1970-01-01T000000Z1-daily.db",
            "1970-02-30T000000Z-1-daily.db", "1970-01-01T250000Z-1-daily.db",
            "1970-01-01T000060Z-1-daily.db", "1969-12-31T235959Z-1-daily.db",
            "1970-01-01 000000Z-1-daily.db", "+970-01-01T000000Z-1-daily.db",
            "1970-01-01T000000Z-99999999999999999999-daily.db",
            "1970-01-01T000000Z-4611686018427387904-daily.db", "é970-01-01T000000Z-1-daily.db",
        ])
    func others(name: String) {
        #expect(BackupName(name) == nil)
    }
}
