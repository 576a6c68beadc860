import Testing

@testable import TestSupport

@Suite struct TestSeedTests {
    @Test(
        arguments: [
            (nil, 0), ("", 0), ("0", 0), ("123", 123), ("18446744073709551615", .max),
            ("random", 42), ("Random", nil), ("-1", nil), ("1 ", nil), ("0x1", nil),
            ("18446744073709551616", nil),
        ] as [(String?, UInt64?)])
    func `The environment has a number, or asks for a new one`(text: String?, seed: UInt64?) {
        #expect(TestSeed.seed(of: text) { 42 } == seed)
    }

    @Test func `What is printed can be pasted, and repeats the tests of the file`() {
        let test = TestName(function: "kill()", file: "StorageTests/KillTests.swift")
        #expect(
            TestSeed.command(repeating: test, with: 123)
                == "DEFAULTSD_SEED=123 Tests/Harness/suite"
                + " --filter 'StorageTests.*/KillTests.swift:' # kill")
    }
}
