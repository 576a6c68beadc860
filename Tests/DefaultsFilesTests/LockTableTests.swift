import DefaultsFiles
import DefaultsModel
import TestSupport
import Testing

/// A table of locks beside the locks themselves, asked one by one.
struct LockTableTests {
    private func table(_ patterns: [String]) throws -> LockTable {
        LockTable(try patterns.map { try #require(Lock($0)) })
    }

    @Test(
        "A table covers exactly the keys that its locks cover",
        arguments: [
            (["Key"], ["Key"], ["Ke", "Key2", "key", "*"]),
            (["Ke*"], ["Ke", "Key", "Ke*"], ["K", "ke"]),
            (["*"], ["a", "*", "\u{1F642}"], []),
            (["a*", "*", "b"], ["z"], []),
            (["a*", "ab*", "abc*"], ["a", "ab", "abd", "abcd"], ["b", "A"]),
            (["ab*", "a", "abc"], ["a", "ab", "abd"], ["aa", "ac", "b"]),
            (["b*", "d*"], ["b", "bz", "d\u{1F642}"], ["a", "c", "cz", "e"]),
            (["\u{E9}*"], ["\u{E9}", "\u{E9}a"], ["e\u{301}", "\u{E8}", "\u{EA}"]),
            (["e*"], ["e\u{301}"], ["\u{E9}"]),
            (["\u{E9}"], ["\u{E9}"], ["e\u{301}"]),
            // What comes before the star may be one character with it to those who count so.
            (["\u{600}*"], ["\u{600}a"], ["a"]),
            (["\u{1F642}*", "\u{1F643}*"], ["\u{1F642}", "\u{1F643}."], ["\u{1F644}"]),
            ([], [], ["a", "*"]),
        ])
    func covering(patterns: [String], covered: [String], free: [String]) throws {
        let table = try table(patterns)
        for key in covered { #expect(table.covers(try Key(key)), "\(key)") }
        for key in free { #expect(!table.covers(try Key(key)), "\(key)") }
    }

    @Test("Only a lock of everything covers the record of the files")
    func fileRecord() throws {
        #expect(try !table(["a*", "b"]).covers(.fileRecord))
        #expect(try table(["*"]).covers(.fileRecord))
    }

    @Test("Many locks cover what each of them covers", arguments: [1, 2, 30, 10_000])
    func manyLocks(count: Int) throws {
        var chance = SeededGenerator(case: count)
        let letters = ["a", "b", "\u{E9}", "\u{301}", "\u{1F642}", "\u{7F}", "\u{600}"]
        func name(_ length: ClosedRange<Int>) -> String {
            (0..<Int.random(in: length, using: &chance))
                .map { _ in letters.randomElement(using: &chance) ?? "" }.joined()
        }
        // Names are long if there are many locks, so that some keys are free.
        let longest = count > 30 ? 7 : 4
        let locks = try (0..<count).map { number in
            try #require(Lock(name(longest - 2...longest) + (number % 4 == 0 ? "" : "*")))
        }
        let table = LockTable(locks.shuffled(using: &chance))
        var counts = [true: 0, false: 0]
        for number in 0..<150 {
            // Half of the keys come of a lock: its prefix, cut or gone on with.
            let pattern = locks.randomElement(using: &chance)?.pattern ?? ""
            let stem = String(pattern.filter { $0 != "*" }.dropLast(number % 3 == 0 ? 1 : 0))
            let text = number % 2 == 0 ? name(1...longest + 1) : stem + name(0...1)
            guard let key = try? Key(text) else { continue }
            let isCovered = locks.contains { $0.covers(key) }
            #expect(table.covers(key) == isCovered, "\(key)")
            counts[isCovered, default: 0] += 1
        }
        #expect(counts.allSatisfy { $0.value > 0 }, "\(counts)")
    }
}
