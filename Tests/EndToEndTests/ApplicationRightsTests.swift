import Foundation
import TestSupport
import TestTiers
import Testing

/// What an app in a sandbox can do and see: its own domains, the global one, and what is granted.
@Suite(
    .startsPrograms, .serialized,
    .enabled(
        if: ApplicationSandbox.isAvailable,
        "bwrap cannot make a sandbox here, or xdg-dbus-proxy is missing"))
struct ApplicationRightsTests {
    private let desktop: Desktop
    private let sandbox: ApplicationSandbox

    private static let app = "org.example.App"
    private static let helper = "org.example.App.Helper"
    /// The domain of another app, and one that does not exist.
    private static let other = "org.example.Application"
    private static let absent = "org.example.Nobody"
    private static let service = "org.defaultsd.Defaults1"
    private static let maintenance = "org.defaultsd.Maintenance1"
    private static let denied = "org.freedesktop.DBus.Error.AccessDenied"

    init() throws {
        let desktop = try Desktop()
        self.desktop = desktop
        for domain in [Self.app, Self.helper, Self.other, "NSGlobalDomain"] {
            try desktop.setNumber(5, forKey: "Key", in: domain)
            try desktop.setNumber(6, forKey: "Key", in: domain + "@host")
        }
        for domain in [Self.app, Self.other] {
            try desktop.write(#"{"Forced": 7}"#, to: "\(domain).json", in: .managed)
            try desktop.write(#"{"Vendor": 8}"#, to: "\(domain).json", in: .recommended)
            try wait { desktop.tool("read", domain + "@managed", "Forced").status == 0 }
            try wait { desktop.tool("read", domain + "@system", "Vendor").status == 0 }
        }
        sandbox = try ApplicationSandbox(
            Self.app, bus: desktop.bus.address,
            runtimeDirectory: try #require(desktop.environment["XDG_RUNTIME_DIR"]))
    }

    private func call(_ method: String, _ arguments: [String]) -> ProgramResult {
        desktop.run(
            sandbox.command(
                SandboxProgram.call(method, at: "/org/defaultsd/Defaults1", arguments)))
    }

    /// What a call in the sandbox comes to: its output, or the error with its sentence.
    private func answer(_ method: String, _ arguments: [String]) -> String {
        let result = call(method, arguments)
        return result.status == 0 ? result.output : result.error
    }

    // MARK: Every member

    /// The arguments after the domain.
    private static let reading: [String: [String]] = [
        "Get": ["Key"], "GetValue": ["Key"], "GetAll": [], "GetAllValues": [], "ListKeys": [],
        "GetChanges": ["1"], "GetTimes": ["['Key']"],
    ]
    /// These take no suffix.
    private static let searching: [String: [String]] = [
        "Lookup": ["Forced"], "LookupValue": ["Forced"], "IsLocked": ["Forced"],
        "Explain": ["Forced"],
    ]
    private static let changing: [String: [String]] = [
        "Set": ["Key", "[0x00]"], "SetValue": ["Key", "<9>"], "Remove": ["Nothing"],
        "Rename": ["Key", "NewKey"], "RemoveDomain": [],
        "Apply": ["@a{say} {}", "[]", "@a{st} {}", "@a{sv} {}"],
        "ApplyValues": ["{'Key': <10>}", "[]", "@a{st} {}", "@a{sv} {}"],
    ]
    /// What these set in a domain, beside whatever else they change.
    private static let joint = ["ApplyAll": "@a{say} {}", "ApplyAllValues": "{'Key': <10>}"]
    private static let open: [String: [String]] = [
        "\(service).ListDomains": [], "\(service).Synchronize": [],
        "org.freedesktop.DBus.Peer.Ping": [], "org.freedesktop.DBus.Peer.GetMachineId": [],
        "org.freedesktop.DBus.Introspectable.Introspect": [],
        "org.freedesktop.DBus.Properties.Get": [service, "DatabasePath"],
        "org.freedesktop.DBus.Properties.GetAll": [service],
        "org.freedesktop.DBus.Properties.Set": [service, "Version", "<'2'>"],
    ]
    private static let closed: [String: [String]] = [
        "\(service).Attach": ["['\(app)']"], "\(service).Follow": ["['\(app)']"],
        "\(service).AttachValues": ["['\(app)']"], "\(service).FollowValues": ["['\(app)']"],
        "\(service).Unfollow": ["['\(app)']"], "\(maintenance).FindWriter": ["1"],
        "\(maintenance).MeasureDomain": [app, "1"], "\(maintenance).ListQuotas": ["0"],
        "\(maintenance).ListLocks": [app],
        "\(maintenance).RestoreBackup": ["''"],
        "\(maintenance).Restore": ["''", "''", "[]", "true"],
        "\(maintenance).GetStatistics": [], "\(maintenance).ListWriters": [],
        "\(maintenance).ListHosts": [], "\(maintenance).ListLayerFiles": [],
        "\(maintenance).ListBackups": [], "\(maintenance).BackUp": [],
        "\(maintenance).HandOver": [],
    ]

    /// All methods of the object, with their interfaces.
    private func methods() throws -> Set<String> {
        var interface = ""
        let lines = try desktop.introspect("/org/defaultsd/Defaults1").split(separator: "\n")
        return Set(
            lines.compactMap {
                if let match = $0.firstMatch(of: /<interface name="([^"]+)"/) {
                    interface = String(match.1)
                }
                return $0.firstMatch(of: /<method name="([^"]+)"/).map { "\(interface).\($0.1)" }
            })
    }

    @Test func `Every method has its place in the table of rights`() throws {
        let tables = [Self.reading, Self.searching, Self.changing].flatMap(\.keys)
        let listed = (tables + Self.joint.keys).map { "\(Self.service).\($0)" }
        let known = Set(listed + Array(Self.open.keys) + Array(Self.closed.keys))
        #expect(try known == methods())
    }

    @Test func `What may not be seen is as what does not exist, and the own domains are read`()
        throws
    {
        let calls =
            Self.reading.flatMap { method in
                ["", "@host", "@managed", "@system"].map { (method.key, $0, method.value) }
            } + Self.searching.map { ($0.key, "", $0.value) }
        for (method, suffix, arguments) in calls {
            let name = "\(Self.service).\(method)"
            let place = Comment(rawValue: method + suffix)
            let hidden = answer(name, [Self.other + suffix] + arguments)
            let absent = answer(name, [Self.absent + suffix] + arguments)
            #expect(
                hidden.replacing(Self.other, with: "X") == absent.replacing(Self.absent, with: "X"),
                place)
            // There is something that a program outside of the sandbox sees; files say no times.
            let hasNothing = method == "GetTimes" && ["@managed", "@system"].contains(suffix)
            let outside = desktop.gdbus(method: name, [Self.other + suffix] + arguments)
            #expect(hasNothing || outside.status != 0 || outside.output != absent, place)
            for own in [Self.app + suffix, "NSGlobalDomain" + suffix] {
                let expected = desktop.gdbus(method: name, [own] + arguments)
                let seen = call(name, [own] + arguments)
                #expect(seen.status == expected.status && seen.output == expected.output, place)
            }
        }
        let key = answer("\(Self.service).GetValue", [Self.helper, "Key"])
        #expect(key.hasPrefix("(<int64 5>"), "\(key)")
    }

    @Test func `Only the own domains are changed`() throws {
        func contents() throws -> [String] {
            try [Self.other, Self.other + "@host", "NSGlobalDomain", "NSGlobalDomain@host"].map {
                try desktop.call("GetAllValues", $0).requireOutput()
            }
        }
        let before = try contents()
        for (method, arguments) in Self.changing {
            let name = "\(Self.service).\(method)"
            for suffix in ["", "@host", "@managed", "@system", "@host:elsewhere"] {
                let hidden = answer(name, [Self.other + suffix] + arguments)
                #expect(hidden.contains(Self.denied), "\(method)\(suffix)")
                let absent = answer(name, [Self.absent + suffix] + arguments)
                #expect(
                    hidden.replacing(Self.other, with: "X")
                        == absent.replacing(Self.absent, with: "X"))
                let global = answer(name, ["NSGlobalDomain" + suffix] + arguments)
                #expect(global.contains(Self.denied), "\(method)\(suffix)")
            }
        }
        #expect(try contents() == before)
        for own in [Self.app, Self.helper, Self.app + "@host"] {
            for method in ["SetValue", "ApplyValues", "Rename", "Remove", "RemoveDomain"] {
                let name = "\(Self.service).\(method)"
                let result = call(name, [own] + (Self.changing[method] ?? []))
                #expect(result.status == 0, "\(method) \(result)")
            }
            #expect(desktop.call("ListKeys", own).output == "(@as [],)\n")
        }
        let layer = answer("\(Self.service).SetValue", [Self.app + "@managed", "Key", "<1>"])
        #expect(layer.contains("Error.Locked"), "\(layer)")
    }

    @Test func `A change of several domains is refused if one of them may not be changed`() throws {
        func part(_ domain: String, _ set: String) -> String { "('\(domain)', \(set), [], {})" }
        for (method, set) in Self.joint {
            let before = try desktop.call("GetAllValues", Self.app).requireOutput()
            let name = "\(Self.service).\(method)"
            for order in [[Self.app, Self.other], [Self.other, Self.app]] {
                let parts = "[\(order.map { part($0, set) }.joined(separator: ", "))]"
                #expect(answer(name, [parts, "{}"]).contains(Self.denied), "\(method)")
            }
            #expect(try desktop.call("GetAllValues", Self.app).requireOutput() == before)
            let own = "[\(part(Self.app, set)), \(part(Self.helper, set))]"
            #expect(call(name, [own, "{}"]).status == 0, "\(method)")
        }
    }

    @Test func `The other methods tell nothing of the domains of others`() throws {
        for (name, arguments) in Self.open {
            let answer = answer(name, arguments)
            #expect(!answer.contains(Self.other), "\(name)")
            #expect(!answer.contains(Self.denied), "\(name)")
        }
        #expect(
            answer("\(Self.service).ListDomains", [])
                == "(['NSGlobalDomain', 'NSGlobalDomain@host', '\(Self.app)', '\(Self.app)@host', "
                + "'\(Self.helper)', '\(Self.helper)@host'],)\n")
        for (name, arguments) in Self.closed {
            let answer = answer(name, arguments)
            #expect(answer.contains(Self.denied), "\(name): \(answer)")
        }
    }

    // MARK: Signals

    /// A program that listens to changes, and what it has heard.
    private final class Ear {
        private let listener: SandboxListener
        private let start: UInt64
        private let domains: [String]?
        private(set) var heard: [String] = []

        /// - Parameters:
        ///   - start: The last generation before the test changes anything.
        ///   - domains: Those that it may hear of; nil for all.
        init(_ listener: SandboxListener, from start: UInt64, of domains: [String]?) {
            self.listener = listener
            self.start = start
            self.domains = domains
        }

        /// The next signal of a change after the start.
        ///
        /// A signal waits until the bus has said who listens. So a program may hear of a change from
        /// before it listened, if it may read the domain.
        func next() -> String {
            while let signal = listener.next() {
                heard.append(signal)
                let match = signal.firstMatch(of: /^Changed \('([^']*)'.*, (\d+), '[^']*'\)$/)
                guard let match, let generation = UInt64(match.2), generation <= start,
                    domains?.contains(String(match.1)) ?? true
                else { return signal }
            }
            return "the end"
        }
    }

    /// Starts a program that listens.
    ///
    /// - Parameter domains: Those that it may hear of; nil for all.
    private func listen(
        _ command: [String], hearing domains: [String]? = [app, helper, "NSGlobalDomain"]
    ) throws -> Ear {
        let listener = try SandboxListener(command, environment: desktop.environment)
        let answer = try desktop.run(
            SandboxProgram.call(
                "org.freedesktop.DBus.Properties.Get", at: "/org/defaultsd/Defaults1",
                [Self.service, "Generation"])
        ).requireOutput()
        let start = try #require(answer.firstMatch(of: /uint64 (\d+)/).flatMap { UInt64($0.1) })
        return Ear(listener, from: start, of: domains)
    }

    private func expectChange(
        of domain: String, in layer: String = "domain", heardBy ear: Ear,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isNext = ear.next().hasPrefix("Changed ('\(domain)', '\(layer)'")
        #expect(isNext, "heard: \(ear.heard)", sourceLocation: sourceLocation)
    }

    @Test func `An app hears of its own domains, and all others hear everything`() throws {
        let program = SandboxProgram.listen(to: Self.service)
        let inside = try listen(sandbox.command(program))
        let outside = try listen(program, hearing: nil)
        for round in 10...12 {
            for domain in [Self.other, Self.app, "NSGlobalDomain", Self.helper] {
                try desktop.setNumber(round, forKey: "Key", in: domain)
                expectChange(of: domain, heardBy: outside)
            }
            for domain in [Self.app, "NSGlobalDomain", Self.helper] {
                expectChange(of: domain, heardBy: inside)
            }
        }
        try desktop.write(#"{"Forced": 1}"#, to: "\(Self.other).json", in: .managed)
        expectChange(of: Self.other, in: "managed", heardBy: outside)
        try desktop.write(#"{"Forced": 1}"#, to: "\(Self.app).json", in: .managed)
        expectChange(of: Self.app, in: "managed", heardBy: inside)
    }

    @Test func `On a bus with very many match rules, an app hears of its own domains, too`() throws
    {
        let program = SandboxProgram.listen(to: Self.service)
        let inside = try listen(sandbox.command(program))
        let outside = try listen(program, hearing: nil)
        let rules = try ChildProcess(
            [
                "/usr/bin/python3", "-c",
                """
                from gi.repository import Gio, GLib
                bus = Gio.bus_get_sync(Gio.BusType.SESSION)
                for number in range(2500):
                    bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "AddMatch",
                        GLib.Variant("(s)", (f"interface='a.b.D{number}'",)), None, 0, -1)
                print("added", flush=True)
                GLib.MainLoop().run()
                """,
            ], environment: desktop.environment, output: .lines)
        #expect(rules.lines?.next() == "added")
        for domain in [Self.other, Self.app] {
            try desktop.setNumber(20, forKey: "Key", in: domain)
            expectChange(of: domain, heardBy: outside)
        }
        expectChange(of: Self.app, heardBy: inside)
    }

    // MARK: Flatpak itself

    @Test(
        .enabled(
            if: FlatpakApplication.obstacle == nil,
            Comment(rawValue: FlatpakApplication.obstacle ?? "")))
    func `An app of a real Flatpak has these rights, and hears of its own domains`() throws {
        let flatpak = try FlatpakApplication(Self.app)
        func ask(_ member: String, _ arguments: String...) -> ProgramResult {
            desktop.run(
                flatpak.command(
                    SandboxProgram.call(
                        "\(Self.service).\(member)", at: "/org/defaultsd/Defaults1", arguments)))
        }
        #expect(ask("GetValue", Self.app, "Key").output.hasPrefix("(<int64 5>"))
        #expect(ask("SetValue", Self.helper, "New", "<1>").output.hasPrefix("(uint64"))
        #expect(ask("GetValue", Self.other, "Key").error.contains("Error.NotFound"))
        #expect(ask("SetValue", Self.other, "Key", "<1>").error.contains(Self.denied))
        #expect(!ask("ListDomains").output.contains(Self.other))
        let inside = try listen(flatpak.command(SandboxProgram.listen(to: Self.service)))
        for domain in [Self.other, Self.app] {
            try desktop.setNumber(30, forKey: "Key", in: domain)
        }
        expectChange(of: Self.app, heardBy: inside)
    }

    // MARK: Grants

    private func read(_ domain: String) -> String {
        answer("\(Self.service).GetValue", [domain, "Key"])
    }

    private func write(_ domain: String) -> String {
        answer("\(Self.service).SetValue", [domain, "Key", "<5>"])
    }

    @Test func `What is granted can be used at once, until it is revoked`() throws {
        let inside = try listen(sandbox.command(SandboxProgram.listen(to: Self.service)))
        #expect(read(Self.other).contains("NotFound"))
        try desktop.tool("grant", Self.app, "read", "org.example.*").requireOutput()
        #expect(read(Self.other).hasPrefix("(<int64 5>"))
        #expect(write(Self.other).contains(Self.denied))
        try desktop.setNumber(9, forKey: "Key", in: Self.other)
        expectChange(of: Self.other, heardBy: inside)
        try desktop.tool("grant", Self.app, "write", Self.other).requireOutput()
        #expect(write(Self.other).hasPrefix("(uint64"))
        #expect(
            try desktop.tool("grants").requireOutput()
                == "\(Self.app)  read   org.example.*            domain\n"
                + "\(Self.app)  write  \(Self.other)  domain\n")
        try desktop.tool("revoke", Self.app, "write", Self.other).requireOutput()
        #expect(write(Self.other).contains(Self.denied))
        #expect(read(Self.other).hasPrefix("(<int64 5>"))
        try desktop.tool("revoke", Self.app).requireOutput()
        #expect(read(Self.other).contains("NotFound"))
        #expect(try desktop.tool("grants").requireOutput().isEmpty)
    }

    @Test func `The administrator's grant is above the user's, and an app cannot grant anything`()
        throws
    {
        let grants = "org.defaultsd.Grants"
        try desktop.tool("grant", Self.app, "write", "*").requireOutput()
        #expect(write(Self.other).hasPrefix("(uint64"))
        let own = answer(
            "\(Self.service).SetValue", [grants, "org.example.Evil", "<{'write': <['*']>}>"])
        #expect(own.contains(Self.denied), "\(own)")
        try desktop.write(
            #"{"\#(Self.app)": {"read": ["\#(Self.other)"]}}"#, to: "\(grants).json", in: .managed)
        try wait { write(Self.other).contains(Self.denied) }
        #expect(read(Self.other).hasPrefix("(<int64 5>"))
        let refusal = desktop.tool("grant", Self.app, "write", Self.other)
        #expect(refusal.status == 1 && refusal.error.contains("locked"), "\(refusal)")
        #expect(
            try desktop.tool("grants", Self.app, "--json").requireOutput()
                == #"[{"application":"\#(Self.app)","access":"read","domain":"\#(Self.other)","#
                + #""layer":"managed"}]"# + "\n")
    }

    @Test func `A grant that is none grants nothing, and the log says once what was refused`()
        throws
    {
        for value in ["5", #"{"read": 5, "write": [7, "a..b", "org..*", ""]}"#, #"["*"]"#] {
            try desktop.tool(
                "write", "org.defaultsd.Grants", Self.app, "--json", value
            ).requireOutput()
            #expect(read(Self.other).contains("NotFound"), "\(value)")
            #expect(write(Self.other).contains(Self.denied), "\(value)")
        }
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains("'defaultsctl grant'") }
        #expect(lines.count == 2, "\(log)")
        for method in ["GetValue", "SetValue"] {
            #expect(
                lines.contains {
                    $0.contains("\(Self.app) has called \(method) for the domain \(Self.other)")
                })
        }
    }
}
