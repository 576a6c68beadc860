import Foundation
import TestSupport
import TestTiers
import Testing

/// What an app in a real sandbox can do and see: its own domains, the global one, and what is granted.
///
/// The suite of the same name in `DefaultsServiceTests` has a table of all methods.
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
    /// The domain of another app.
    private static let other = "org.example.Application"
    private static let service = "org.defaultsd.Defaults1"
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
        #expect(!answer("\(Self.service).ListDomains", []).contains(Self.other))
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

    @Test func `The administrator's grant is above the user's, and the tool says so`() throws {
        try desktop.write(
            #"{"\#(Self.app)": {"read": ["\#(Self.other)"]}}"#, to: "org.defaultsd.Grants.json",
            in: .managed)
        try wait { read(Self.other).hasPrefix("(<int64 5>") }
        let refusal = desktop.tool("grant", Self.app, "write", Self.other)
        #expect(refusal.status == 1 && refusal.error.contains("locked"), "\(refusal)")
        #expect(
            try desktop.tool("grants", Self.app, "--json").requireOutput()
                == #"[{"application":"\#(Self.app)","access":"read","domain":"\#(Self.other)","#
                + #""layer":"managed"}]"# + "\n")
    }
}
