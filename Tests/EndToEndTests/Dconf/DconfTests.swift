import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Programs of dconf on defaultsd, and how they and the other ways to a domain see each other's changes.
@Suite(.startsPrograms, .serialized, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct DconfTests {
    private let dconf: DconfDesktop
    private var desktop: Desktop { dconf.desktop }
    private static let domain = "org.gnome.desktop.interface"
    private static let folder = "/org/gnome/desktop/interface/"

    init() throws { dconf = try DconfDesktop() }

    @Test func `Other programs see settings as keys, and set them`() throws {
        let (domain, folder) = (Self.domain, Self.folder)
        try dconf.dconf("write", folder + "cursor-size", "48").requireOutput()
        #expect(desktop.tool("read", domain, "cursor-size").output == "48\n")
        let watch = try dconf.watch(folder)
        try desktop.tool("write", domain, "cursor-size", "-int", "32").requireOutput()
        try wait { dconf.read(folder + "cursor-size") == "32" }
        #expect(try dconf.changes(watch, below: folder) == [folder + "cursor-size", "  32"])
        #expect(dconf.gsettings("get", domain, "cursor-size").output == "32\n")
        // The schema says that this is a double.
        try desktop.tool("write", domain, "text-scaling-factor", "-int", "2").requireOutput()
        #expect(
            try dconf.changes(watch, below: folder) == [folder + "text-scaling-factor", "  2.0"])
        try dconf.gsettings("set", domain, "color-scheme", "prefer-dark").requireOutput()
        #expect(desktop.tool("read", domain, "color-scheme").output == "prefer-dark\n")
        #expect(
            try dconf.changes(watch, below: folder) == [folder + "color-scheme", "  'prefer-dark'"])
        try desktop.tool("delete", domain, "cursor-size").requireOutput()
        try wait { dconf.read(folder + "cursor-size").isEmpty }
        watch.send(SIGTERM)
    }

    @Test func `A change of several domains is one change`() throws {
        let text = "[org/example/a]\nx=1\n\n[org/gnome/b]\ny='z'\n"
        try dconf.dconf("load", "/", input: text).requireOutput()
        let generations = try ["org.example.a", "org.gnome.b"].map { domain in
            try desktop.call("GetChanges", domain, "0").requireOutput().matches(of: /uint64 (\d+)/)
                .map { String($0.1) }
        }
        #expect(generations[0] == generations[1])
        #expect(dconf.dconf("dump", "/").output == text)
        try desktop.write(#"{"y": "fixed"}"#, to: "org.gnome.b.json", in: .managed)
        try wait { dconf.read("/org/gnome/b/y") == "'fixed'" }
        // One of them is locked, so none of them changes.
        let refused = dconf.dconf("load", "/", input: text.replacing("x=1", with: "x=2"))
        #expect(refused.status != 0 && refused.error.contains("org.gnome.b.json"), "\(refused)")
        #expect(dconf.read("/org/example/a/x") == "1")
        // The reset of everything leaves it, and other domains, as they are.
        try desktop.tool("write", "org.other.program", "z", "-int", "1").requireOutput()
        try dconf.dconf("reset", "-f", "/").requireOutput()
        #expect(dconf.dconf("dump", "/").output == "[org/gnome/b]\ny='fixed'\n")
        #expect(desktop.tool("read", "org.other.program", "z").output == "1\n")
        #expect(desktop.tool("read", "org.gnome.b", "y").output == "z\n")
    }

    @Test func `The strongest layer is in the file, and unrelated domains are not`() throws {
        let path = Self.folder + "cursor-theme"
        func expect(_ value: String) throws { try wait { dconf.read(path) == value } }
        for domain in ["org.other.program", "xfconf.xfwm4", "org.defaultsd.Quotas"] {
            desktop.tool("write", domain, "key", "-int", "1")
        }
        try desktop.write(#"{"cursor-theme": "vendor"}"#, to: "\(Self.domain).json", in: .vendor)
        try dconf.dconf("write", "/a", "1").requireOutput()
        try expect("'vendor'")
        try dconf.dconf("write", path, "'own'").requireOutput()
        try expect("'own'")
        try desktop.tool("write", "\(Self.domain)@host", "cursor-theme", "host").requireOutput()
        try expect("'host'")
        // What programs set is what they see.
        try dconf.dconf("write", path, "'set'").requireOutput()
        try expect("'set'")
        #expect(desktop.tool("read", "\(Self.domain)@host", "cursor-theme").output == "set\n")
        // After a reset, the value for all machines is not there, either.
        try dconf.dconf("reset", path).requireOutput()
        try expect("'vendor'")
        #expect(desktop.tool("read", Self.domain, "cursor-theme").status != 0)
        try desktop.write(#"{"cursor-theme": "fixed"}"#, to: "\(Self.domain).json", in: .managed)
        try expect("'fixed'")
        #expect(dconf.dconf("write", path, "'set'").status != 0)
        #expect(dconf.dconf("list", "/").output == "a\norg/\n")
        #expect(dconf.dconf("list", "/org/").output == "gnome/\n")
        try dconf.dconf("write", "/org/other/program/x", "1").requireOutput()
        #expect(dconf.read("/org/other/program/key") == "1")
        #expect(dconf.dconf("write", "/xfconf/xfwm4/key", "2").status != 0)
        #expect(dconf.dconf("write", "/org/defaultsd/Quotas/x", "2").status != 0)
    }

    @Test func `After a kill the next daemon has everything that had a reply`() throws {
        for round in 1...5 {
            _ = try desktop.daemonPID()
            try dconf.dconf("write", "/org/example/round", "\(round)").requireOutput()
            try desktop.killDaemon(SIGKILL)
            #expect(dconf.read("/org/example/round") == "\(round)")
            _ = try desktop.daemonPID()
            #expect(desktop.tool("read", "org.example", "round").output == "\(round)\n")
            // What came another way may have been too late for the file.
            try desktop.tool("write", "org.example", "other", "-int", "\(round)").requireOutput()
            try desktop.killDaemon(SIGKILL)
            _ = try desktop.daemonPID()
            try wait { dconf.read("/org/example/other") == "\(round)" }
        }
    }

    @Test func `A daemon that replaces another takes the name, and no change is lost`() throws {
        let script = """
            for i in $(seq 1 60); do dconf write /org/example/k$i $i 2>&1 || echo "failed $i"; done
            """
        let writing = try desktop.start("sh", "-c", script)
        // They run as long as these exist.
        var daemons: [ChildProcess] = []
        for _ in 1...3 {
            let old = try desktop.daemonPID()
            daemons.append(
                try desktop.startDaemon(by: [
                    "sh", "-c",
                    #"exec "$0" --replace --serve dconf \#(Desktop.layerOptions(in: desktop.directory.path))"#,
                ]))
            try wait { try desktop.daemonPID() != old }
        }
        while let line = writing.lines?.next() { Issue.record("\(line)") }
        withExtendedLifetime(daemons) {}
        let lines = dconf.dconf("dump", "/org/example/").output.split(separator: "\n")
        #expect(lines.count == 61, "\(lines)")
    }

    @Test func `blame names the caller`() throws {
        let writing = try desktop.start("dconf", "write", "/org/example/a", "1")
        while writing.lines?.next() != nil {}
        let blame = dconf.dconf("blame").output
        #expect(blame.contains("Object path: /ca/desrt/dconf/Writer/user"))
        #expect(blame.contains("PID: \(writing.processIdentifier)"), "\(blame)")
    }

    @Test func `Hostile calls are refused, and the daemon goes on`() throws {
        let daemon = try desktop.daemonPID()
        let refused = [
            "[byte 0xff, 0xff, 0xff]", "[byte 0x2f, 0x00, 0x01]", "[byte 0x61, 0x00, 0x00, 0x02]",
        ]
        for bytes in refused {
            let answer = dconf.call("Change", [bytes])
            #expect(answer.errorName == "org.freedesktop.DBus.Error.InvalidArgs", "\(answer)")
        }
        #expect(dconf.call("Change", ["@ay []"]).status == 0)
        #expect(dconf.call("Init", []).status == 0)
        let other = desktop.run(
            "gdbus", "call", "--session", "--dest", "ca.desrt.dconf", "--object-path",
            "/ca/desrt/dconf/Writer/other", "--method", "ca.desrt.dconf.Writer.Init")
        #expect(other.errorName == "org.freedesktop.DBus.Error.UnknownObject", "\(other)")
        #expect(dconf.dconf("write", "/" + String(repeating: "k", count: 2000), "1").status != 0)
        #expect(try desktop.daemonPID() == daemon)
    }

    @Test(.enabled(if: Desktop.sandboxIsAvailable))
    func `A program in a sandbox changes only what it was granted`() throws {
        let sandbox = try desktop.wholeSandbox()
        func write(_ path: String) -> ProgramResult {
            desktop.run(sandbox + ["dconf", "write", path, "1"])
        }
        _ = try desktop.daemonPID()
        // It has no application that is known for certain, so what is granted to all is its own.
        try desktop.tool("grant", "*", "write", "org.example.App").requireOutput()
        #expect(write("/org/gnome/a").status != 0)
        #expect(desktop.run(sandbox + ["dconf", "blame"]).status != 0)
        try write("/org/example/App/a").requireOutput()
        #expect(dconf.read("/org/example/App/a") == "1")
        try dconf.dconf("write", "/org/gnome/a", "1").requireOutput()
        // What it may not change stays, and it does not hear of it.
        let reset = desktop.run(sandbox + ["dconf", "reset", "-f", "/org/"])
        #expect(reset.status == 0 && !reset.error.contains("gnome"), "\(reset)")
        #expect(dconf.read("/org/gnome/a") == "1")
        try wait { dconf.read("/org/example/App/a").isEmpty }
        try desktop.tool("grant", "*", "write", "org.gnome").requireOutput()
        try write("/org/gnome/b").requireOutput()
    }
}
