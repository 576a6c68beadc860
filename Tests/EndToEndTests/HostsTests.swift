import Foundation
import TestSupport
import TestTiers
import Testing

/// Machines that share one home, one after the other.
@Suite(.startsPrograms, .enabled(if: Machine.canBePretended)) struct HostsTests {
    private static let box = Machine(
        id: "0123456789abcdef0123456789abcdef", name: "box.example.org")
    private static let far = Machine(id: "11111111111111111111111111111111", name: "far")

    private let desktop: Desktop

    init() throws {
        desktop = try Desktop()
    }

    @discardableResult
    private func tell(_ words: String) throws -> String {
        try desktop.tool(words.split(separator: " ").map(String.init)).requireOutput()
    }

    @Test func `Each machine has its own values, and reads the other's by its name or its ID`()
        throws
    {
        try desktop.onMachine(Self.box) { try tell("-currentHost write com.a k here") }
        try desktop.onMachine(Self.far) { () throws in
            #expect(desktop.tool("-currentHost", "read", "com.a", "k").status == 1)
            #expect(try tell("-currentHost write com.a k there").isEmpty)
            for name in ["box.example.org", "box", Self.box.id] {
                #expect(try tell("-host \(name) read com.a k") == "here\n")
                #expect(try tell("-host \(name) domains") == "com.a\n")
                #expect(
                    try tell("-host \(name) read")
                        == "{\n    \"com.a\" =     {\n        k = here;\n    };\n}\n")
            }
            for name in ["far", Self.far.id] {
                #expect(try tell("read com.a@host:\(name) k") == "there\n")
                #expect(try tell("-host \(name) domains") == "com.a\n")
            }
            #expect(
                try tell("domains --json") == #"["com.a@host:box.example.org","com.a@host"]"# + "\n"
            )
            #expect(
                desktop.call("Get", "com.a@host:box", "none").error.contains(
                    "The domain com.a@host:box.example.org has no key 'none'."))
            #expect(
                try desktop.gdbus("org.defaultsd.Maintenance1.ListHosts").requireOutput()
                    == "([('\(Self.far.id)', 'far'), ('\(Self.box.id)', 'box.example.org')],)\n")
        }
    }

    @Test func `A name of two machines is refused with their IDs, except by one of the two`()
        throws
    {
        let twin = Machine(id: "22222222222222222222222222222222", name: Self.far.name)
        for machine in [Self.far, twin] {
            try desktop.onMachine(machine) { try tell("-currentHost write com.a k \(machine.id)") }
        }
        try desktop.onMachine(twin) { () throws in
            #expect(try tell("-host far read com.a k") == "\(twin.id)\n")
        }
        try desktop.onMachine(Self.box) { () throws in
            let refusal = desktop.call("ListKeys", "com.a@host:far")
            #expect(refusal.errorName == "org.defaultsd.Defaults1.Error.InvalidDomain")
            #expect(refusal.error.contains("2 machines have the name"))
            #expect(refusal.error.contains("\(Self.far.id), \(twin.id)"))
            #expect(desktop.tool("-host", "far", "domains").error.contains("2 machines"))
            #expect(try tell("-host \(twin.id) read com.a k") == "\(twin.id)\n")
            #expect(try tell("-host \(twin.id) domains") == "com.a\n")
        }
    }

    @Test
    func `A backup of another machine is restored with the command for the values of that machine`()
        throws
    {
        let backup = try desktop.onMachine(Self.box) { () throws in
            try tell("-currentHost write com.a k 1")
            try tell("backup now")
            return try #require(tell("backup list --paths").split(separator: "\n").first)
        }
        let new = try Desktop()
        try new.onMachine(Self.far) { () throws in
            let restored = try new.tool("backup", "restore", String(backup)).requireOutput()
            let start = try #require(restored.range(of: "defaultsctl export --format"))
            let command = restored[start.lowerBound...].prefix { $0 != "\n" }
            let told = new.tool("doctor").output
            #expect(told.contains("com.a@host:\(Self.box.id). They do not apply here."), "\(told)")
            #expect(told.contains(command), "\(told)")
            #expect(new.tool("-currentHost", "read", "com.a", "k").status == 1)
            try new.run(
                "env", "PATH=\(Desktop.programs):/usr/bin:/bin", "sh", "-ec", String(command)
            ).requireOutput()
            #expect(new.tool("-currentHost", "read", "com.a", "k").output == "1\n")
            new.tool("delete", "com.a@host:\(Self.box.id)")
            #expect(!new.tool("doctor").output.contains("do not apply here"))
        }
    }

    @Test func `The names of machines complete a command line, and the status lists them`() throws {
        try desktop.onMachine(Self.box) { try tell("-currentHost write com.a k 1") }
        try desktop.onMachine(Self.far) { () throws in
            for line in ["-host", "read --host"] {
                #expect(
                    try tell("complete -- \(line) b") == "box.example.org\t\(Self.box.id)\n")
            }
            #expect(try tell("complete -- -host far re").contains("read"))
            #expect(try tell("status").contains(#/\nhost +far \(1{32}\)\n/#))
            #expect(
                try tell("status").contains(
                    #/\nother hosts +box\.example\.org \((0123456789abcdef){2}\)\n/#))
            let status = try tell("status --json")
            #expect(
                status.contains(
                    #""hosts":[{"id":"\#(Self.far.id)","name":"far"},"#
                        + #"{"id":"\#(Self.box.id)","name":"box.example.org"}]"#))
        }
    }
}
