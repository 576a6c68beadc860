/// Random numbers that a seed repeats, in every process and on every machine.
///
/// The only generator of the tests, [SplitMix64](https://prng.di.unimi.it/splitmix64.c).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes the numbers of a seed, for programs with an option for it.
    ///
    /// A test has those of its name: ``init(case:testSeed:function:file:)``.
    public init(seed: UInt64) {
        state = seed
    }

    /// Makes the numbers that follow from some bytes.
    public init(bytes: some Sequence<UInt8>) {
        state = FNV.hash(of: bytes)
    }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension SeededGenerator {
    /// Makes the numbers of the test that calls this, and prints how to have them again.
    ///
    /// - Parameters:
    ///   - case: What tells the cases of a test with arguments from each other.
    ///   - testSeed: The number of the whole run. Where it made a test fail once, the test has it as a fixed
    ///     case.
    ///   - function: The name of the test.
    ///   - file: The file of the test, and its module.
    public init(
        case: some CustomStringConvertible = "", testSeed: UInt64 = TestSeed.current,
        function: String = #function, file: String = #fileID
    ) {
        let test = TestName(function: function, file: file)
        TestSeed.announce(testSeed, for: test)
        self.init(of: test, case: `case`, testSeed: testSeed)
    }

    init(of test: TestName, case: some CustomStringConvertible, testSeed: UInt64) {
        self.init(bytes: "\(testSeed)/\(test)/\(`case`)".utf8)
    }
}
