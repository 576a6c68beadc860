import DefaultsModel
import DefaultsTerms
import TestSupport
import Testing

@Suite struct QuotasTests {
    private let domain: Domain
    private var quotas = Quotas()

    init() throws {
        domain = try Domain("org.example.App", on: .localhost)
    }

    private func growth(_ before: KeyTotals, _ after: KeyTotals) -> Growth {
        Growth(before: before, after: after)
    }

    private func totals(_ keys: Int, _ bytes: Int) -> KeyTotals {
        KeyTotals(keys: keys, nameBytes: keys, valueBytes: bytes - keys)
    }

    @Test("The own bound of a name is above that of all, which is above the built-in one")
    mutating func order() {
        let builtIn = quotas.limit(.domainKeys, of: "org.example.App")
        quotas.set([.domainKeys: 7], for: "*")
        quotas.set([.domainKeys: 9], for: "org.example.App")
        quotas.set([.domainBytes: 1], for: "org.example.Other")
        #expect(builtIn > 9)
        #expect(quotas.limit(.domainKeys, of: "org.example.App") == 9)
        #expect(quotas.limit(.domainKeys, of: "org.example.Other") == 7)
        #expect(quotas.limit(.domainBytes, of: "org.example.App") == 256 << 20)
    }

    @Test("A domain may reach its bounds and not exceed them")
    mutating func domainBounds() {
        quotas.set([.domainKeys: 2, .domainBytes: 100], for: "*")
        #expect(quotas.exceeded(by: growth(totals(1, 50), totals(2, 100)), of: domain) == nil)
        let keys = quotas.exceeded(by: growth(totals(2, 50), totals(3, 60)), of: domain)
        #expect(
            keys == QuotaUse(bound: .domainKeys, name: "org.example.App", limit: 2, used: 3))
        let bytes = quotas.exceeded(by: growth(totals(2, 50), totals(2, 101)), of: domain)
        #expect(
            bytes
                == QuotaUse(
                    bound: .domainBytes, name: "org.example.App", limit: 100, used: 101))
    }

    @Test("Who is above a bound may shrink, and change without growing")
    mutating func shrinking() {
        quotas.set([.domainKeys: 1, .domainBytes: 1, .keys: 1, .bytes: 1, .domains: 0], for: "*")
        var usage = Usage()
        usage.add(totals(9, 900))
        for after in [totals(9, 900), totals(8, 800), totals(0, 0)] {
            let growth = growth(totals(9, 900), after)
            #expect(!growth.isMore)
            #expect(quotas.exceeded(by: growth, of: domain) == nil)
            let ofApp = quotas.exceeded(by: growth, ofApplication: "org.example.App", with: usage)
            #expect(ofApp == nil)
        }
    }

    @Test("The domains of an application are counted together")
    mutating func application() {
        quotas.set([.domains: 2, .keys: 3, .bytes: 100], for: "org.example.App")
        var usage = Usage()
        usage.add(totals(1, 40))
        usage.add(totals(1, 40))
        func exceeded(_ before: KeyTotals, _ after: KeyTotals) -> QuotaTerms.Bound? {
            quotas.exceeded(
                by: growth(before, after), ofApplication: "org.example.App", with: usage)?.bound
        }
        #expect(exceeded(totals(1, 40), totals(2, 60)) == nil)
        #expect(exceeded(totals(0, 0), totals(1, 1)) == .domains)
        #expect(exceeded(totals(1, 40), totals(3, 50)) == .keys)
        #expect(exceeded(totals(1, 40), totals(1, 61)) == .bytes)
        // Those of other names have the built-in bounds.
        #expect(
            quotas.exceeded(
                by: growth(totals(1, 40), totals(1, 61)), ofApplication: "org.example.B",
                with: usage) == nil)
    }

    @Test("All domains are counted together")
    mutating func everybody() {
        quotas.set([.allDomains: 1], for: "*")
        var usage = Usage()
        #expect(quotas.exceeded(by: growth(totals(0, 0), totals(1, 9)), with: usage) == nil)
        usage.add(totals(1, 9))
        let exceeded = quotas.exceeded(by: growth(totals(0, 0), totals(1, 9)), with: usage)
        #expect(exceeded == QuotaUse(bound: .allDomains, name: "*", limit: 1, used: 2))
        #expect(quotas.exceeded(by: growth(totals(1, 9), totals(2, 18)), with: usage) == nil)
    }

    @Test("While the disk has little space left, a domain that is not small does not grow")
    func disk() {
        let mebibyte = 1 << 20
        func isRefused(_ before: Int, _ after: Int, free: Int, of size: Int, pending: Int = 0)
            -> Bool
        {
            quotas.exceeded(
                by: growth(totals(1, before), totals(1, after)), of: domain,
                on: DiskSpace(free: free * mebibyte, size: size * mebibyte),
                pending: pending * mebibyte) != nil
        }
        #expect(isRefused(1, mebibyte + 1, free: 200, of: 100_000))
        #expect(!isRefused(1, mebibyte + 1, free: 300, of: 100_000))
        #expect(isRefused(1, mebibyte + 1, free: 300, of: 100_000, pending: 30))
        // A small disk keeps an eighth.
        #expect(!isRefused(1, mebibyte + 1, free: 20, of: 96))
        #expect(isRefused(1, mebibyte + 1, free: 13, of: 96))
        // What does not grow does no harm.
        #expect(!isRefused(9 * mebibyte, 8 * mebibyte, free: 0, of: 96))
    }

    @Test("A use says how near it is")
    mutating func nearness() {
        quotas.set([.domainBytes: 200, .domainKeys: 0], for: "*")
        let uses = quotas.uses(of: domain, totals(1, 150), as: "org.example.App@host")
        #expect(uses.map(\.percentage) == [100, 75])
        #expect(uses.map(\.name) == ["org.example.App@host", "org.example.App@host"])
    }
}

@Suite struct WriteRatesTests {
    private let app = WriteRates.Program.application("org.example.App")
    private let start = WriteRates.Instant.now

    @Test("A program may set at once what it may set in a minute, and then waits")
    func burst() {
        var rates = WriteRates()
        #expect(rates.wait(app, for: 600, limit: 600, at: start) == nil)
        rates.note(600, by: app, limit: 600, at: start)
        #expect(rates.wait(app, for: 10, limit: 600, at: start) == .seconds(1))
        #expect(rates.wait(app, for: 10, limit: 600, at: start + .seconds(1)) == nil)
        #expect(rates.wait(.process(7), for: 600, limit: 600, at: start) == nil)
    }

    @Test("A change that is larger than the bound is made when the account is empty")
    func large() {
        var rates = WriteRates()
        #expect(rates.wait(app, for: 5000, limit: 600, at: start) == nil)
        rates.note(5000, by: app, limit: 600, at: start)
        #expect(rates.wait(app, for: 5000, limit: 600, at: start) == .seconds(500))
        #expect(rates.wait(app, for: 5000, limit: 600, at: start + .seconds(501)) == nil)
    }

    @Test("Of very many programs those are remembered that have set most")
    func bounded() {
        var rates = WriteRates()
        rates.note(1 << 20, by: app, limit: 1 << 20, at: start)
        for number in UInt32(0)..<10_000 {
            rates.note(1, by: .process(number), limit: 600, at: start)
        }
        #expect(rates.levels(at: start) { _ in 600 }.count <= 1024)
        #expect(rates.wait(app, for: 1, limit: 1 << 20, at: start) != nil)
    }
}

@Suite struct TokenShareTests {
    @Test("Domains with few tokens keep all of them, however many others have")
    func share() {
        #expect(Token.share(of: []) == nil)
        #expect(Token.share(of: Array(repeating: 1024, count: 16)) == nil)
        #expect(Token.share(of: Array(repeating: 1024, count: 64)) == 256)
        // 6 have 600 together, so 63 share the rest.
        let counts = Array(repeating: 100, count: 6) + Array(repeating: 1024, count: 63)
        var random = SeededGenerator()
        #expect(Token.share(of: counts.shuffled(using: &random)) == (16_384 - 600) / 63)
        #expect(Token.share(of: Array(repeating: 1, count: 16_385)) == 0)
    }
}
