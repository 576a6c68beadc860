import Testing

@testable import defaultsctl

@Suite("A time of the past") struct PastTimeTests {
    /// 2026-11-30 12:00:01 UTC, a Monday; in Berlin it is 13:00:01.
    private static let now: Int64 = 1_796_040_001
    /// When the clocks in Berlin were put back in 2026: from 03:00 to 02:00.
    private static let back: Int64 = 1_792_890_000
    /// When they were put forward: from 02:00 to 03:00.
    private static let forward: Int64 = 1_774_746_000

    /// The clock of somebody in Berlin, whose machine has been running for an hour.
    private static func berlin(at now: Int64 = now) -> PastTime.Clock {
        PastTime.Clock(now: now, uptime: 3_600) { moment in
            (forward..<back).contains(moment) ? 7_200 : 3_600
        }
    }

    private func seconds(_ words: String, at now: Int64 = now) throws -> Int64 {
        try PastTime(words, of: "--since", by: Self.berlin(at: now)).seconds
    }

    private func refusal(of words: String) -> String? {
        do {
            _ = try PastTime(words, of: "--since", by: Self.berlin())
            return nil
        } catch {
            #expect(error.exitCode == ToolError.wrongLine)
            return error.message
        }
    }

    @Test(
        "may be how long ago it was",
        arguments: [
            ("90s", 90), ("10m", 600), ("2h", 7_200), ("3d", 259_200), ("1w", 604_800),
            ("0m", 0), ("now", 0), ("NOW", 0), ("10M", 600), ("boot", 3_600),
        ])
    func distances(words: String, length: Int64) throws {
        #expect(try seconds(words) == Self.now - length)
    }

    @Test("that is longer than anybody remembers is the beginning of time")
    func longDistance() throws {
        #expect(try seconds("99999d") == 0)
        #expect(try seconds("9223372036854775807w") == 0)
    }

    /// 2026-11-30 00:00 in Berlin.
    private static let midnight: Int64 = 1_795_993_200

    @Test(
        "may be a day, which means its beginning, or a time of the day",
        arguments: [
            ("today", 0), ("yesterday", -86_400), ("Yesterday", -86_400),
            ("yesterday 18:30", -86_400 + 66_600), ("today 9:30", 34_200), ("9:30", 34_200),
            ("2026-11-30", 0), ("2026-11-29", -86_400), ("2026-11-30 09:30:15", 34_215),
            ("2026-11-30T09:30", 34_200), ("2026-11-30T08:30Z", 34_200),
            ("2026-11-30T08:30:00Z", 34_200), ("2026-11-30 10:30+02:00", 34_200),
            ("2026-11-30 05:00 ", 18_000), ("2026-11-30 05:00-0330", 34_200),
        ])
    func days(words: String, after: Int64) throws {
        #expect(try seconds(words) == Self.midnight + after)
    }

    @Test("of a summer day is by the clocks of the summer")
    func summer() throws {
        // 2026-07-01 14:00 in Berlin is 12:00 UTC.
        #expect(try seconds("2026-07-01 14:00") == 1_782_907_200)
    }

    @Test("that a clock has shown twice is the later one")
    func doubledHour() throws {
        #expect(try seconds("2026-10-25 02:30") == Self.back + 1_800)
        #expect(try seconds("2026-10-25 01:59:59") == Self.back - 3_601)
        #expect(try seconds("2026-10-25 03:00") == Self.back + 3_600)
        // Of the same night, by a clock that shows it.
        #expect(try seconds("02:10", at: Self.back + 1_800) == Self.back + 600)
    }

    @Test("in the hour that was left out is after the change")
    func missingHour() throws {
        #expect(try seconds("2026-03-29 02:30") == Self.forward + 1_800)
        #expect(try seconds("2026-03-29 01:59:59") == Self.forward - 1)
        #expect(try seconds("2026-03-29 03:00") == Self.forward)
    }

    @Test("is not twelve hours before or after noon where the date line was moved")
    func movedDateLine() throws {
        // Samoa left out the 30th of December 2011.
        let moved: Int64 = 1_325_239_200
        let samoa = PastTime.Clock(now: Self.now, uptime: 0) { $0 < moved ? -36_000 : 50_400 }
        func seconds(_ words: String) throws -> Int64 {
            try PastTime(words, of: "--since", by: samoa).seconds
        }
        #expect(try seconds("2011-12-29 23:00") == moved - 3_600)
        #expect(try seconds("2011-12-31 01:00") == moved + 3_600)
    }

    @Test("cannot be in the future", arguments: ["14:00", "2026-12-01", "2027-01-01 00:00"])
    func future(words: String) throws {
        let message = try #require(refusal(of: words))
        #expect(message.contains("'\(words)' is in the future"))
    }

    @Test("needs a unit", arguments: ["10", "0", "2026", "20261101"])
    func bareNumber(words: String) throws {
        let message = try #require(refusal(of: words))
        #expect(message.contains("--since takes a time, and '\(words)' has no unit."))
        #expect(message.contains("10m, 2h or 3d"))
    }

    @Test(
        "is not anything else",
        arguments: [
            "", " ", "m", "-10m", "10 m", "10y", "1.5h", "٣m", "tomorrow", "soon", "monday",
            "2026-13-01", "2026-02-30", "2026-11", "26-11-01", "2026-11-01 25:00",
            "2026-11-01 14", "2026-11-01 14:60", "2026-11-01 14:00:60", "2026-11-01 1:2:3:4",
            "2026-11-01T", "T14:00", "2026-11-01 14:00 15:00", "2026-11-01 14:00 Z",
            "2026-11-01 14:00+1", "yesterday today", "boot 10:00", "2026-11-01 14:000",
        ])
    func others(words: String) throws {
        let message = try #require(refusal(of: words))
        #expect(message.contains("is not one"), "\(words)")
    }
}
