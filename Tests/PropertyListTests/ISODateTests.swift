import PropertyList
import TestSupport
import Testing

@Suite("A date in ISO 8601")
struct ISODateTests {
    /// The seconds since 2001, and their spelling.
    private static let table: [(Double, String)] = [
        (0, "2001-01-01T00:00:00Z"), (730_900_801, "2024-02-29T12:00:01Z"),
        (730_900_801.75, "2024-02-29T12:00:01.75Z"), (0.1, "2001-01-01T00:00:00.1Z"),
        (-0.5, "2000-12-31T23:59:59.5Z"), (-1, "2000-12-31T23:59:59Z"),
        (-1.25, "2000-12-31T23:59:58.75Z"), (0.00001, "2001-01-01T00:00:00.00001Z"),
        (-0.00001, "2000-12-31T23:59:59.99999Z"),
        (1.5e-7, "2001-01-01T00:00:00.00000015Z"),
        // Leap years and years that are none.
        (-26_524_800, "2000-02-29T00:00:00Z"), (-3_182_198_400, "1900-03-01T00:00:00Z"),
        (-3_182_284_800, "1900-02-28T00:00:00Z"), (3_124_137_600, "2100-01-01T00:00:00Z"),
        // The first and the last second that four digits can express.
        (-63_113_904_000, "0001-01-01T00:00:00Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
        (252_423_993_599.5, "9999-12-31T23:59:59.5Z"),
    ]

    @Test("is the shortest text that reads back", arguments: table)
    func spelling(seconds: Double, text: String) {
        #expect(ISODate.text(secondsSince2001: seconds) == text)
        #expect(ISODate.seconds(of: text)?.bitPattern == seconds.bitPattern)
    }

    @Test(
        "does not exist for a year that four digits cannot express",
        arguments: [
            Double.nan, .infinity, -.infinity, -0.0, -63_113_904_000.5, 252_423_993_600, 1e300,
            -1e18,
        ])
    func unspelled(seconds: Double) {
        #expect(ISODate.text(secondsSince2001: seconds) == nil)
    }

    @Test("reads back as exactly the same double, whatever its size")
    func roundTrip() throws {
        var generator = SeededGenerator()
        let bounds = [1e-300, 1e-12, 1e-4, 1, 1e3, 1e6, 1e9, 6e10]
        for bound in bounds {
            for _ in 0..<2_000 {
                let seconds = Double.random(in: -bound...bound, using: &generator)
                let text = try #require(ISODate.text(secondsSince2001: seconds))
                #expect(ISODate.seconds(of: text)?.bitPattern == seconds.bitPattern, "\(text)")
            }
        }
        for seconds in [Double.leastNonzeroMagnitude, .leastNormalMagnitude, 1 - .ulpOfOne / 2] {
            for signed in [seconds, -seconds] {
                let text = try #require(ISODate.text(secondsSince2001: signed))
                #expect(ISODate.seconds(of: text)?.bitPattern == signed.bitPattern, "\(text)")
            }
        }
    }

    @Test("has no unnecessary digit")
    func shortness() throws {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            let seconds = Double.random(in: -1e9...1e9, using: &generator)
            let text = try #require(ISODate.text(secondsSince2001: seconds))
            let digits = text.dropLast().drop { $0 != "." }
            guard digits.count > 2 else { continue }
            let shorter = text.dropLast(2) + "Z"
            #expect(ISODate.seconds(of: String(shorter)) != seconds, "\(text)")
            #expect(digits.last != "0", "\(text)")
        }
    }

    @Test(
        "may have an offset and a comma",
        arguments: [
            ("2024-02-29T12:00:01+00:00", 730_900_801), ("2024-02-29T13:30:01+01:30", 730_900_801),
            ("2024-02-29T13:30:01+0130", 730_900_801), ("2024-02-29T03:00:01-09", 730_900_801),
            ("2024-03-01T00:00:01,5+12:00", 730_900_801.5),
            ("2024-02-29T12:00:01.50000000000000000000000Z", 730_900_801.5),
            ("2024-02-29T12:00:01.0Z", 730_900_801), ("2001-01-01T00:00:00+00:01", -60),
            ("2001-01-01T00:00:00.000-00:00", 0), ("2000-12-31T23:59:59.00Z", -1),
        ] as [(String, Double)])
    func offsets(text: String, seconds: Double) {
        #expect(ISODate.seconds(of: text) == seconds)
    }

    @Test(
        "has no other form",
        arguments: [
            "", "now", "2024-02-29", "2024-02-29T12:00:01", "2024-02-29T12:00Z",
            "2024-02-29 12:00:01Z",
            "2023-02-29T12:00:01Z", "1900-02-29T12:00:01Z", "2024-13-01T12:00:01Z",
            "2024-00-01T12:00:01Z", "2024-04-31T12:00:01Z", "2024-02-29T24:00:00Z",
            "2024-02-29T12:60:00Z", "2024-02-29T12:00:60Z", "2024-02-29T12:00:01.Z",
            "2024-02-29T12:00:01.5", "2024-02-29T12:00:01.5.5Z", "2024-02-29T12:00:01.5ZZ",
            "2024-02-29T12:00:01+1", "2024-02-29T12:00:01+24:00", "2024-02-29T12:00:01+01:60",
            "2024-02-29T12:00:01+1:000", "2024-02-29T12:00:01 Z", " 2024-02-29T12:00:01Z",
            "2024-02-29T12:00:01z", "2024-02-29T12:00:01Z ", "0000-01-01T00:00:00Z",
            "12024-02-29T12:00:01Z", "-2024-02-29T12:00:01Z", "2024-2-29T12:00:01Z",
            "２024-02-29T12:00:01Z", "2024-02-29T12:00:01.٥Z", "20240229T120001Z", "1709208001",
            "2024-02-29T12:00:01." + String(repeating: "1", count: 325) + "Z",
            "2024-02-29T12:00:01" + String(repeating: "Z", count: 1_000),
        ])
    func refusal(text: String) {
        #expect(ISODate.seconds(of: text) == nil)
    }
}
