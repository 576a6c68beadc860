import Foundation
import TestSupport
import TestTiers
import Testing

/// The service on the bus and the contract file, both read by other programs.
@Suite(.startsPrograms, .serialized) struct ContractTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test(arguments: ["org.defaultsd.Defaults1", "org.defaultsd.History1"])
    func `The service's introspection equals the contract, argument by argument`(
        interface: String
    ) throws {
        let told = try members(of: interface, in: desktop.introspect("/org/defaultsd/Defaults1"))
        let contract = try members(
            of: interface, in: String(contentsOfFile: Desktop.contractFile, encoding: .utf8))
        #expect(!contract.isEmpty && told == contract)
    }

    /// Each member of an interface by kind and name, spelled out in one way.
    private func members(
        of interface: String, in introspection: String
    ) throws -> [String: String] {
        let program = """
            import sys, xml.etree.ElementTree as tree
            interface = tree.fromstring(sys.stdin.read()).find(
                "interface[@name='\(interface)']")
            def spell(node, direction):
                facts = dict(node.attrib)
                if node.tag == "arg" and direction: facts.setdefault("direction", direction)
                return (node.tag, sorted(facts.items()),
                        [spell(child, "in" if node.tag == "method" else None) for child in node])
            for member in interface:
                if member.tag in ("method", "signal", "property"):
                    print(f"{member.tag} {member.get('name')}\\t{spell(member, None)}")
            """
        let output = try desktop.python(program, input: introspection).requireOutput()
        var members: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "\t")
            members[String(parts[0])] = String(parts[1])
        }
        return members
    }
}
