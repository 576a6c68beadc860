import Foundation
import TestSupport
import TestTiers
import Testing

/// Bounds of what programs may store: what they refuse, and that everything else goes on.
@Suite(.startsPrograms, .serialized) struct QuotaTests {
    private let desktop: Desktop

    private static let app = "org.example.App"
    private static let other = "org.example.Other"

    init() throws { desktop = try Desktop() }

    /// Lets the administrator set bounds, and waits until they apply.
    private func bound(_ bounds: String) throws {
        let number = UInt32.random(in: 1 ... .max)
        try desktop.write(
            #"{"Number": \#(number), \#(bounds.dropFirst())"#, to: "org.defaultsd.Quotas.json",
            in: .managed)
        try wait {
            desktop.tool("read", "org.defaultsd.Quotas@managed", "Number").output == "\(number)\n"
        }
    }

    private func write(_ domain: String, _ key: String, bytes: Int) -> ProgramResult {
        desktop.tool("write", domain, key, "-string", String(repeating: "x", count: bytes))
    }

    private func expectRefusal(_ result: ProgramResult, by bound: String) {
        #expect(result.status == 1, "\(bound): \(result)")
        #expect(result.error.contains("(\(bound))"), "\(bound): \(result)")
        #expect(result.error.contains("Nothing was changed."), "\(bound): \(result)")
    }

    @Test func `A domain has no more keys and bytes than it may, and others are not affected`()
        throws
    {
        try bound(
            #"{"*": {"DomainKeys": 3}, "\#(Self.app)": {"DomainKeys": 2, "DomainBytes": 4000}}"#)
        #expect(write(Self.app, "a", bytes: 1).status == 0)
        #expect(write(Self.app, "b", bytes: 1).status == 0)
        expectRefusal(write(Self.app, "c", bytes: 1), by: "DomainKeys")
        expectRefusal(write(Self.app, "b", bytes: 5000), by: "DomainBytes")
        #expect(try desktop.tool("read", Self.app, "b").requireOutput() == "x\n")
        // The other domain has the bound of all.
        for key in ["a", "b", "c"] { #expect(write(Self.other, key, bytes: 5000).status == 0) }
        expectRefusal(write(Self.other, "d", bytes: 1), by: "DomainKeys")
        // Room is made by what is removed.
        #expect(desktop.tool("delete", Self.app, "a").status == 0)
        #expect(write(Self.app, "c", bytes: 1).status == 0)
        // A transaction is made whole or not at all.
        let both = desktop.run(
            "gdbus", "call", "--session", "--dest", "org.defaultsd.Defaults1", "--object-path",
            "/org/defaultsd/Defaults1", "--method", "org.defaultsd.Defaults1.ApplyValues", Self.app,
            "{'c': <1>, 'd': <1>}", "@as []", "@a{st} {}", "@a{sv} {}")
        #expect(both.error.contains("org.freedesktop.DBus.Error.LimitsExceeded"), "\(both)")
        #expect(try desktop.tool("read", Self.app, "c").requireOutput() == "x\n")
    }

    @Test func `A bound that is lowered takes nothing away, and one that is raised lets go on`()
        throws
    {
        #expect(write(Self.app, "a", bytes: 3000).status == 0)
        #expect(write(Self.app, "b", bytes: 3000).status == 0)
        try bound(#"{"*": {"DomainBytes": 1000}}"#)
        #expect(try desktop.tool("keys", Self.app).requireOutput() == "a\nb\n")
        expectRefusal(write(Self.app, "a", bytes: 4000), by: "DomainBytes")
        #expect(write(Self.app, "a", bytes: 2000).status == 0)
        #expect(desktop.tool("rename", Self.app, "b", "c").status == 0)
        try bound(#"{"*": {"DomainBytes": 100000}}"#)
        #expect(write(Self.app, "a", bytes: 4000).status == 0)
        // What is no bound is ignored.
        try bound(#"{"*": {"DomainBytes": "none", "DomainKeys": -1, "Other": 0}, "x": 5}"#)
        #expect(write(Self.app, "a", bytes: 120_000).status == 0)
    }

    @Test func `A failed apply changes nothing, even above a bound`() throws {
        for key in ["a", "b", "c"] { #expect(write(Self.app, key, bytes: 1).status == 0) }
        #expect(write(Self.other, "a", bytes: 1).status == 0)
        try bound(#"{"*": {"DomainKeys": 1}}"#)
        let apply = desktop.run(
            "sh", "-c",
            """
            printf 'delete %s a\nwrite %s b 1\n' \(Self.app) \(Self.other) \
                | \(Desktop.programs)/defaultsctl apply
            """)
        #expect(apply.status == 1 && apply.error.contains("(DomainKeys)"), "\(apply)")
        #expect(try desktop.tool("keys", Self.app).requireOutput() == "a\nb\nc\n")
    }

    @Test func `The log reports an invalid bound, and the bound can be corrected`() throws {
        let domain = "org.defaultsd.Quotas"
        for words in [["DomainKeys", "1"], ["DomainKeys", "-int", "0"]] {
            #expect(desktop.tool(["write", domain, "*", "-dict"] + words).status == 0)
        }
        expectRefusal(write(Self.app, "a", bytes: 1), by: "DomainKeys")
        #expect(desktop.tool("write", domain, "x", "-dict", "DomainKeys", "-int", "1").status == 0)
        #expect(desktop.tool("write", domain, "*", "-dict", "Keys", "1").status == 0)
        #expect(write(Self.app, "a", bytes: 1).status == 0)
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.contains("The bounds of * in org.defaultsd.Quotas are not all valid"), "\(log)")
    }

    @Test func `All programs together have no more domains than they may`() throws {
        try bound(#"{"*": {"AllDomains": 3}}"#)
        for number in 1...3 { #expect(write("org.example.D\(number)", "k", bytes: 1).status == 0) }
        expectRefusal(write("org.example.D4", "k", bytes: 1), by: "AllDomains")
        expectRefusal(write("org.example.D1@host", "k", bytes: 1), by: "AllDomains")
        #expect(write("org.example.D3", "other", bytes: 1).status == 0)
        #expect(desktop.tool("delete", "org.example.D2").status == 0)
        #expect(write("org.example.D4", "k", bytes: 1).status == 0)
    }

    @Test func `A program that sets too much in a minute has to wait, and others do not`() throws {
        try bound(#"{"*": {"BytesPerMinute": 100000}}"#)
        let answers = try desktop.python(
            """
            from gi.repository import Gio, GLib
            import time
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            size, made, refusal, begin = 30_000, 0, None, time.monotonic()
            while not refusal:
                value = GLib.Variant("s", f"{made}".ljust(size, "."))
                try:
                    bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                        "org.defaultsd.Defaults1", "SetValue",
                        GLib.Variant("(ssv)", ("\(Self.app)", "Key", value)), None, 0, -1)
                    made += 1
                    # What became free meanwhile may be used, however slow the machine is.
                    assert made * size <= 100_000 * (1 + (time.monotonic() - begin) / 60), made
                except GLib.Error as error: refusal = error.message
            assert made >= 3, made
            print(refusal)
            bus.call_sync("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                "org.defaultsd.Defaults1", "Remove",
                GLib.Variant("(ss)", ("\(Self.app)", "Key")), None, 0, -1)
            print("removed")
            """
        ).requireOutput().split(separator: "\n")
        try #require(answers.count == 2, "\(answers)")
        #expect(answers[0].contains("LimitsExceeded") && answers[0].contains("BytesPerMinute"))
        #expect(answers[0].contains("Call again in "))
        #expect(answers[1] == "removed")
        #expect(write(Self.app, "Key", bytes: 30_000).status == 0)
    }

    @Test func `stats and status say who is near a bound, and the log says who was refused`() throws
    {
        #expect(
            try desktop.tool("status").requireOutput().contains("nobody is near a bound"))
        try bound(#"{"\#(Self.app)": {"DomainKeys": 4}, "\#(Self.other)": {"DomainKeys": 4}}"#)
        for key in ["a", "b", "c", "d"] { #expect(write(Self.app, key, bytes: 1).status == 0) }
        for key in ["a", "b"] { #expect(write(Self.other, key, bytes: 1).status == 0) }
        let stats = try desktop.tool("stats").requireOutput()
        let near = stats.components(separatedBy: "near a bound:\n").last ?? ""
        #expect(near.hasPrefix("100 %  DomainKeys  \(Self.app)    4 of 4\n"), "\(stats)")
        #expect(near.contains(" 50 %  DomainKeys  \(Self.other)  2 of 4\n"), "\(stats)")
        #expect(
            try desktop.tool("status").requireOutput()
                .contains("\(Self.app) uses 100 % of DomainKeys\n"))
        #expect(
            try desktop.tool("status", "--json").requireOutput().contains(
                #""quotas":[{"name":"\#(Self.app)","bound":"DomainKeys","used":4,"limit":4}]"#))
        for _ in 0..<2 { expectRefusal(write(Self.app, "e", bytes: 1), by: "DomainKeys") }
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains("DomainKeys") }
        #expect(lines.count == 1 && lines[0].contains("of \(Self.app)"), "\(log)")
    }
}

/// Bounds of an app in a sandbox.
@Suite(
    .startsPrograms, .serialized,
    .enabled(if: ApplicationSandbox.isAvailable, Comment(rawValue: ApplicationSandbox.reason)))
struct ApplicationQuotaTests {
    private let desktop: Desktop
    private let sandbox: ApplicationSandbox
    private static let app = "org.example.App"

    init() throws {
        let desktop = try Desktop()
        self.desktop = desktop
        #expect(desktop.tool("write", "org.example.Other", "Key", "5").status == 0)
        sandbox = try ApplicationSandbox(
            Self.app, bus: desktop.bus.address,
            runtimeDirectory: try #require(desktop.environment["XDG_RUNTIME_DIR"]))
    }

    private func ask(_ method: String, _ arguments: String...) -> String {
        let result = desktop.run(
            sandbox.command(
                SandboxProgram.call(
                    "org.defaultsd.Defaults1.\(method)", at: "/org/defaultsd/Defaults1", arguments))
        )
        return result.status == 0 ? result.output : result.error
    }

    private func set(_ domain: String, _ key: String, bytes: Int = 1) -> String {
        ask("SetValue", domain, key, "<'\(String(repeating: "x", count: bytes))'>")
    }

    @Test func `The domains of an app are counted together, and those of others are not affected`()
        throws
    {
        try desktop.write(
            #"{"\#(Self.app)": {"Domains": 2, "Keys": 3, "Bytes": 4000}}"#,
            to: "org.defaultsd.Quotas.json", in: .managed)
        try wait {
            desktop.tool("read", "org.defaultsd.Quotas@managed", Self.app).status == 0
        }
        #expect(set(Self.app, "a").hasPrefix("(uint64"))
        #expect(set("\(Self.app).Helper", "a").hasPrefix("(uint64"))
        let third = set("\(Self.app).Third", "a")
        #expect(third.contains("LimitsExceeded") && third.contains("(Domains)"), "\(third)")
        #expect(set(Self.app, "b").hasPrefix("(uint64"))
        let fourth = set("\(Self.app).Helper", "b")
        #expect(fourth.contains("LimitsExceeded") && fourth.contains("(Keys)"), "\(fourth)")
        let large = set(Self.app, "a", bytes: 5000)
        #expect(large.contains("LimitsExceeded") && large.contains("(Bytes)"), "\(large)")
        // Tokens of domains without keys count, too.
        let token = ask(
            "ApplyValues", "\(Self.app).Empty", "@a{sv} {}", "@as []", "@a{st} {}",
            "{'token': <'t'>}")
        #expect(token.contains("LimitsExceeded") && token.contains("(Domains)"), "\(token)")
        // Programs outside are not bounded by it.
        #expect(desktop.tool("write", "\(Self.app).Third", "a", "5").status == 0)
        #expect(desktop.tool("write", "org.example.Other", "b", "5").status == 0)
        // The usage is known again after a start.
        #expect(try desktop.end(by: SIGKILL))
        #expect(set("\(Self.app).Helper", "b").contains("(Keys)"))
        #expect(ask("RemoveDomain", "\(Self.app).Third").hasPrefix("(uint64"))
        #expect(ask("RemoveDomain", "\(Self.app).Helper").hasPrefix("(uint64"))
        #expect(set("\(Self.app).Helper", "b").hasPrefix("(uint64"))
        let stats = try desktop.tool("stats").requireOutput()
        #expect(stats.contains("100 %  Domains "), "\(stats)")
    }

    @Test func `An app cannot make the service forget the tokens of others`() throws {
        try desktop.write(
            #"{"*": {"Domains": 2}}"#, to: "org.defaultsd.Quotas.json", in: .managed)
        try wait { desktop.tool("read", "org.defaultsd.Quotas@managed", "*").status == 0 }
        for number in 1...3 {
            let domain = "\(Self.app).D\(number)"
            let answer = ask(
                "ApplyValues", domain, "{'Key': <1>}", "@as []", "@a{st} {}", "{'token': <'t'>}")
            guard number == 3 else {
                #expect(answer.hasPrefix("(uint64"), "\(answer)")
                #expect(ask("Remove", domain, "Key").hasPrefix("(uint64"))
                continue
            }
            #expect(answer.contains("LimitsExceeded") && answer.contains("(Domains)"), "\(answer)")
        }
    }

    @Test func `An app cannot raise its own bounds`() throws {
        #expect(
            ask("SetValue", "org.defaultsd.Quotas", Self.app, "<{'Keys': <100000>}>")
                .contains("AccessDenied"))
        #expect(desktop.tool("grant", Self.app, "write", "*").status == 0)
        #expect(
            ask("SetValue", "org.defaultsd.Quotas", Self.app, "<{'Keys': <100000>}>")
                .contains("AccessDenied"))
    }
}
