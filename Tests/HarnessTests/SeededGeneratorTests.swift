import Testing

@testable import TestSupport

@Suite struct SeededGeneratorTests {
    private func numbers(_ generator: SeededGenerator) -> [UInt64] {
        var generator = generator
        return (0..<4).map { _ in generator.next() }
    }

    private func numbers(
        of function: String, in file: String = "M/F.swift", case: String = "", testSeed: UInt64 = 0
    ) -> [UInt64] {
        let test = TestName(function: function, file: file)
        return numbers(SeededGenerator(of: test, case: `case`, testSeed: testSeed))
    }

    @Test func `A name has the same numbers each time, and another name has others`() {
        #expect(numbers(SeededGenerator()) == numbers(SeededGenerator()))
        #expect(numbers(SeededGenerator()) != numbers(SeededGenerator(function: "other")))
        let all = [
            numbers(of: "a()"), numbers(of: "b()"), numbers(of: "a()", in: "M/G.swift"),
            numbers(of: "a()", in: "N/F.swift"), numbers(of: "a()", testSeed: 1),
            numbers(of: "a()", case: "1"), numbers(of: "a()", case: "2"),
        ]
        #expect(Set(all).count == all.count)
        #expect(numbers(of: "a()") == all[0])
    }

    /// The published first numbers of SplitMix64, and a checksum from the page on FNV.
    @Test func `The numbers are the same in each process`() {
        #expect(
            numbers(SeededGenerator(seed: 1_234_567)) == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
            ])
        let checksum: UInt64 = 0x8594_4171_F739_67E8
        #expect(
            numbers(SeededGenerator(bytes: "foobar".utf8))
                == numbers(SeededGenerator(seed: checksum)))
        #expect(
            numbers(of: "a(b:)", case: "c", testSeed: 7)
                == numbers(SeededGenerator(bytes: "7/M/F.swift/a/c".utf8)))
    }

    @Test func `The name of a test does not depend on its folder and its labels`() {
        let name = TestName(function: "`It works`(seed:)", file: "M/Folder/F.swift")
        #expect("\(name)" == "M/F.swift/It works")
    }
}
