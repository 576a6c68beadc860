import Foundation
import TestSupport
import TestTiers
import Testing

/// The service on the bus and the contract file, both read by other programs.
@Suite(.startsPrograms, .serialized) struct ContractTests {
    let desktop: Desktop

    init() throws { desktop = try Desktop() }

    @Test func `The service's introspection equals the contract, argument by argument`() throws {
        let told = try members(of: desktop.introspect("/org/defaultsd/Defaults1"))
        let contract = try members(
            of: String(contentsOfFile: Desktop.contractFile, encoding: .utf8))
        #expect(told == contract)
    }

    @Test(arguments: ["/", "/org", "/org/defaultsd"])
    func `A parent of the object answers Introspect and names the next node`(path: String) throws {
        let next = ["/": "org", "/org": "defaultsd", "/org/defaultsd": "Defaults1"][path]
        #expect(try desktop.introspect(path).contains("<node name=\"\(next ?? "")\"/>"))
    }

    @Test(arguments: ["History", "Revert", "ForgetHistory"])
    func `A method that the contract does not have answers UnknownMethod`(method: String) throws {
        let answer = desktop.call(method, "7")
        #expect(answer.errorName == "org.freedesktop.DBus.Error.UnknownMethod")
    }

    @Test func `The properties have the contract's types`() throws {
        let all = try desktop.gdbus(
            "org.freedesktop.DBus.Properties.GetAll", "org.defaultsd.Defaults1"
        ).requireOutput()
        #expect(all.contains("'Generation': <uint64 1>"))
        #expect(all.contains("'DurableGeneration': <uint64 1>"))
        #expect(all.contains("'RecordStart': <uint64 1>"))
        #expect(all.contains("'PendingChanges': <uint32 0>"))
        #expect(all.contains("'StorageError': <''>"))
        #expect(all.contains("'MaximumValueSize': <uint64 16777216>"))
        #expect(
            all.contains(
                "'DatabasePath': <'\(desktop.directory.path)/config/defaultsd/defaults.db'>"))
    }

    @Test func `A property cannot be set`() throws {
        let answer = desktop.gdbus(
            "org.freedesktop.DBus.Properties.Set", "org.defaultsd.Defaults1", "Generation",
            "<uint64 7>")
        #expect(answer.errorName == "org.freedesktop.DBus.Error.PropertyReadOnly")
    }

    /// Each member of an interface by kind and name, spelled out in one way.
    private func members(of introspection: String) throws -> [String: String] {
        let program = """
            import sys, xml.etree.ElementTree as tree
            interface = tree.fromstring(sys.stdin.read()).find(
                "interface[@name='org.defaultsd.Defaults1']")
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
