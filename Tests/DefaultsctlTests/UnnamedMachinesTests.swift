import Testing

@testable import defaultsctl

/// What is said of values for machines that this database knows by their IDs only.
@Suite("Values for a machine") struct UnnamedMachinesTests {
    private static let old = "0123456789abcdef0123456789abcdef"
    private static let other = "11111111111111111111111111111111"

    @Test("known by its ID only are named, with the command that takes them over")
    func unnamed() {
        let machines = UnnamedMachines(
            domains: ["com.a", "com.a@host", "com.b@host:\(Self.old)", "com.a@host:far"],
            namedMachines: [])
        #expect(
            machines.fact == "1 domain has values for a machine that is known by ID only, such as "
                + "com.b@host:\(Self.old). They do not apply here.")
        #expect(
            machines.advice
                == "To take them over to this machine: defaultsctl export --format binary "
                + "com.b@host:\(Self.old) - | defaultsctl -currentHost import com.b -")
    }

    @Test("of several are counted, and the command says that there are others")
    func several() {
        let machines = UnnamedMachines(
            domains: ["com.a@host:\(Self.old)", "com.b@host:\(Self.other)"], namedMachines: [])
        #expect(machines.fact?.hasPrefix("2 domains have values for 2 machines that are") == true)
        #expect(
            machines.advice?.hasSuffix("import com.a -, and so on for the other domains") == true)
    }

    @Test("whose name is known, or was typed, are not told")
    func named() {
        let machines = UnnamedMachines(
            domains: ["com.a@host:\(Self.old)", "com.a@host:far", "com.a@host", "com.a"],
            namedMachines: [Self.old])
        #expect(machines.fact == nil && machines.advice == nil)
    }
}
