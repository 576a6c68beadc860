import DefaultsModel
import Testing

@Suite struct GenerationTests {
    @Test("0 is not a generation, and a new database begins at 1")
    func zero() {
        #expect(Generation(rawValue: 0) == nil)
        #expect(Generation.first.rawValue == 1)
    }

    @Test("Generations count up and are ordered by their numbers")
    func order() {
        #expect(Generation.first.advanced(by: 1).rawValue == 2)
        #expect(Generation.first < Generation.first.advanced(by: 1 << 60))
    }
}
