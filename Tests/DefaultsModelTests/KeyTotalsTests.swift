import DefaultsModel
import Testing

@Suite struct KeyTotalsTests {
    @Test("Names and archives are counted in bytes when keys are set, replaced and removed")
    func counts() throws {
        var totals = KeyTotals()
        totals.set(try Key("é"), size: 100, replacing: nil)
        totals.set(try Key("abc"), size: 10, replacing: nil)
        #expect(totals == KeyTotals(keys: 2, nameBytes: 5, valueBytes: 110))
        totals.set(try Key("abc"), size: 4, replacing: 10)
        #expect(totals == KeyTotals(keys: 2, nameBytes: 5, valueBytes: 104))
        totals.remove(try Key("é"), size: 100)
        #expect(totals == KeyTotals(keys: 1, nameBytes: 3, valueBytes: 4))
        #expect(totals.bytes == 7)
    }
}
