import CodecProperties
import TestSupport
import Testing

/// A short run of the fuzzer; `make fuzz` is the long one.
@Suite("Random inputs")
struct FuzzTests {
    private static let seeds = Seeds.all.map(\.bytes) + Fixtures.all.map(\.bytes)
    private static let runs = Thoroughness.tries(2500)

    @Test("of our own and of real programs meet the promises of the codec", arguments: Part.all)
    func seeds(part: Part) throws {
        for seed in Self.seeds { _ = try part.check(seed) }
    }

    @Test("with random changes meet the promises of the codec", arguments: Part.all)
    func changed(part: Part) throws {
        var random = SeededGenerator(case: part)
        var mutator = Mutator(seed: random.next())
        var accepted = 0
        for run in 0..<Self.runs {
            let input = mutator.mutated(mutator.choose(of: Self.seeds))
            do {
                if try part.check(input) == .accepted { accepted += 1 }
            } catch {
                Issue.record("\(error) in run \(run): \(input)")
                return
            }
        }
        // Where none or all are accepted, the changes try nothing.
        #expect(accepted > Self.runs / 100 && accepted < Self.runs * 9 / 10)
    }

    @Test("depend only on the seed")
    func determinism() {
        let outputs = (0..<2).map { _ in
            var mutator = Mutator(seed: 7)
            return (0..<100).map { _ in mutator.mutated(mutator.choose(of: Self.seeds)) }
        }
        #expect(outputs[0] == outputs[1])
        #expect(Set(outputs[0]).count > 90)
    }
}
