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
