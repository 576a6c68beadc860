import KeyedArchive
import Testing

@testable import defaultsctl

@Suite("The width of a terminal") struct TerminalWidthTests {
    private func line(_ new: String, _ old: String?, columns: Int?) throws -> String {
        func content(_ text: String?) throws -> WatchedChange.Content {
            try text.map { .value(try KeyedArchive(json: "\"\($0)\"")) } ?? .absent
        }
        let change = WatchedChange(
            of: "key", in: "a.b", from: try content(old), to: try content(new), at: 1, by: nil)
        return try ChangeForm.text.line(of: change, hasISODates: false, columns: columns)
    }

    @Test("cuts the values of a change, so that the rest can be read")
    func values() throws {
        let long = String(repeating: "x", count: 200)
        #expect(try line(long, "o", columns: nil).count > 200)
        #expect(try line("n", "o", columns: 40) == #"a.b key = "n" (was "o")"#)
        for (new, old) in [(long, "old"), ("new", long), (long, long)] {
            let cut = try line(new, old, columns: 40)
            #expect(cut.count == 40 && cut.hasSuffix(")") && cut.contains("…"), "\(cut)")
        }
        #expect(try line(long, "old", columns: 40).contains(#"(was "old")"#))
        #expect(try line(long, nil, columns: 40).hasSuffix("… (new)"))
        #expect(try line(long, long, columns: 5).terminalWidth == 5)
    }

    @Test("counts wide characters twice, and marks not at all")
    func wide() throws {
        #expect("日本".terminalWidth == 4 && "é".terminalWidth == 1 && "🎉".terminalWidth == 2)
        #expect("日本語".cut(toColumns: 4) == "日…" && "abc".cut(toColumns: 3) == "abc")
    }
}
