import Glibc
import TestSupport
import TestTiers
import Testing

/// Several keys at once, by gdbus; the rules of it are tested in the process of the service.
@Suite(.startsPrograms, .serialized) struct TransactionTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// Applies in org.example.App.
    @discardableResult
    private func apply(_ set: String, _ remove: String = "[]") -> ProgramResult {
        desktop.call("ApplyValues", "org.example.App", set, remove, "{}", "{}")
    }

    @Test func `A transaction is one change with one generation and one signal`() throws {
        apply("{'a': <1>, 'b': <2>}")
        let monitor = try desktop.start(
            "gdbus", "monitor", "--session", "--dest", "org.defaultsd.Defaults1")
        try desktop.waitForMatchRule(containing: "org.defaultsd.Defaults1")
        #expect(apply("{'b': <3>, 'c': <4>}", "['a', 'absent']").output == "(uint64 3,)\n")
        apply("{'d': <5>}")
        var told: [String] = []
        while let line = monitor.lines?.next() {
            if line.contains("Changed") { told.append(line) }
            if line.contains("'d'") { break }
        }
        #expect(told.count == 2)
        #expect(told.first?.contains("'domain', ['b', 'c'], ['a'], uint64 3") == true)
        #expect(
            desktop.call("GetAllValues", "org.example.App").output
                == "({'b': <int64 3>, 'c': <int64 4>, 'd': <int64 5>}, @as [], uint64 4)\n")
        monitor.send(SIGTERM)
    }

}
