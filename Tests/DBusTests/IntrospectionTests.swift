import DBus
import Foundation
import TestTiers
import Testing
import TestSupport

/// The description follows from the declarations, and tools can read it.
@Suite(.startsPrograms) struct IntrospectionTests {
    let session: PrivateSession
    let connection: Connection

    static let clock = Interface(
        "a.Clock",
        methods: [
            Method(
                "TimeIn", in: [Argument("zone", "s")],
                out: [
                    Argument(
                        "data", "ay",
                        annotations: [Annotation("org.gtk.GDBus.C.ForceGVariant", "<&\">")])
                ],
                annotations: [Annotation("org.freedesktop.DBus.Deprecated", "true")]
            ) { try $0.reply { try $0.writeBytes([]) } },
            Method("Stop") { try $0.reply() },
        ],
        signals: [
            SignalDeclaration("Ticked", [Argument("seconds", "x")]), SignalDeclaration("Stopped"),
        ],
        properties: [Property("Zone", "s", emitsChanged: .constant) { .string("UTC") }])

    init() async throws {
        session = try PrivateSession()
        connection = try await session.connect()
        await connection.export([Self.clock], at: "/org/example/Clock")
        await connection.export([Self.clock], at: "/org/example/Clock/Second")
        await connection.export([Self.clock], at: "/org/Other")
    }

    private func introspect(_ path: ObjectPath) async throws -> String {
        try await connection.call(
            connection.uniqueName, path, "org.freedesktop.DBus.Introspectable", "Introspect"
        ) {
            try $0.readString()
        }
    }

    @Test func `The description has every declaration, as a parser of XML reads it`() async throws {
        let program = """
            import sys, xml.etree.ElementTree as tree
            def show(node, depth):
                print('  ' * depth + node.tag, *[f'{k}={v}' for k, v in node.attrib.items()])
                for child in node:
                    show(child, depth + 1)
            for interface in tree.fromstring(sys.stdin.read()).findall("interface[@name='a.Clock']"):
                show(interface, 0)
            """
        let result = await ProgramResult.running(
            ["/usr/bin/python3", "-c", program], input: try await introspect("/org/example/Clock"))
        #expect(
            result.output == """
                interface name=a.Clock
                  method name=TimeIn
                    annotation name=org.freedesktop.DBus.Deprecated value=true
                    arg name=zone type=s direction=in
                    arg name=data type=ay direction=out
                      annotation name=org.gtk.GDBus.C.ForceGVariant value=<&">
                  method name=Stop
                  signal name=Ticked
                    arg name=seconds type=x
                  signal name=Stopped
                  property name=Zone type=s access=read
                    annotation name=org.freedesktop.DBus.Property.EmitsChangedSignal value=const

                """, "\(result.error)")
    }

    @Test func `gdbus and busctl understand it, including values of properties`() async throws {
        let name = connection.name
        let gdbus = await session.run(
            "gdbus", "introspect", "--session", "--dest", name, "--object-path",
            "/org/example/Clock")
        #expect(gdbus.output.contains("readonly s Zone = 'UTC';"), "\(gdbus.error)")
        let busctl = await session.run(
            "busctl", "--address=\(session.bus.address)", "introspect", name, "/org/example/Clock")
        for member in [".TimeIn", ".Ticked", ".Zone", ".Ping", ".Introspect", ".GetAll"] {
            #expect(busctl.output.contains("\n\(member) "), "\(busctl.error)")
        }
    }

    @Test(
        arguments: [
            ("/", ["org"]), ("/org", ["Other", "example"]), ("/org/example", ["Clock"]),
            ("/org/example/Clock", ["Second"]), ("/org/example/Clock/Second", []),
        ] as [(ObjectPath, [String])])
    func `Each path lists those below it`(_ path: ObjectPath, _ children: [String]) async throws {
        let found = try await introspect(path).matches(of: /<node name="(\w+)"\/>/).map {
            "\($0.1)"
        }
        #expect(found == children)
    }

    @Test func `A path above has only the standard interfaces`() async throws {
        let found = try await introspect("/org/example").matches(of: /<interface name="([\w.]+)"/)
        #expect(
            found.map { "\($0.1)" } == [
                "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer",
            ])
    }

    @Test func `busctl finds every object on its own`() async throws {
        let tree = await session.run(
            "busctl", "--address=\(session.bus.address)", "tree", "--list",
            connection.name)
        #expect(
            Set(tree.output.split(separator: "\n")) == [
                "/", "/org", "/org/Other", "/org/example", "/org/example/Clock",
                "/org/example/Clock/Second",
            ], "\(tree.error)")
    }

    @Test func `The same interface twice at a path is our own mistake and traps`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [address = session.bus.address as String] in
            let connection = try await Connection.open(
                .address(address), on: EventLoop.startThread(named: "mistake"))
            await connection.export([IntrospectionTests.clock, IntrospectionTests.clock], at: "/")
        }
        #expect(result.map(complaint)?.contains("a.Clock was exported twice at one path.") == true)
    }
}
