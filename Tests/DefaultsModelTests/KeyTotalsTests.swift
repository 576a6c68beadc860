import DefaultsModel
import Testing

@Suite struct KeyTotalsTests {
    @Test("Names are counted in bytes when they are added and removed")
    func counts() throws {
        var totals = KeyTotals()
        totals.add(try Key("é"))
        totals.add(try Key("abc"))
        #expect(totals == KeyTotals(keys: 2, nameBytes: 5))
        totals.remove(try Key("é"))
        #expect(totals == KeyTotals(keys: 1, nameBytes: 3))
    }
}
