import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Problems with files of the layers are reported, and do not affect values in force.
@Suite(.startsPrograms, .serialized) struct LayerTroubleTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func lookup(_ key: String, in domain: String = app) -> String {
        desktop.call("LookupValue", domain, key).output
    }

    private func lock(_ key: String, in domain: String = app) -> String {
        desktop.call("IsLocked", domain, key).output
    }

    /// What is wrong with a file, as the daemon lists it.
    private func problem(of path: String) -> String? {
        desktop.gdbus("org.defaultsd.Maintenance1.ListLayerFiles").output
            .split(separator: "), (").first { $0.contains("'\(path)',") }.map(String.init)
    }

    @Test(arguments: ["the directory is a file", "the file is a pipe", "the link leads nowhere"])
    func `Values in force stay, even over a restart, and end with their cause`(
        trouble: String
    ) throws {
        let manager = FileManager.default
        let file = desktop.path(of: "\(Self.app).json", in: .managed)
        let directory = String(desktop.path(of: "", in: .managed).dropLast())
        try desktop.write(
            #"{"Key": 1, "$locked": ["Other"]}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Drop": 1}"#, to: "\(Self.app).d/1.json", in: .managed)
        #expect(lookup("Drop") == "(<int64 1>, 'managed')\n")
        let aside = desktop.directory.path + "/aside"
        switch trouble {
        case "the directory is a file":
            try manager.moveItem(atPath: directory, toPath: aside)
            #expect(manager.createFile(atPath: directory, contents: Data()))
        case "the file is a pipe":
            try manager.moveItem(atPath: file, toPath: aside)
            #expect(mkfifo(file, 0o600) == 0)
        default:
            try manager.moveItem(atPath: file, toPath: aside)
            try manager.createSymbolicLink(atPath: file, withDestinationPath: "../nowhere")
        }
        try wait { problem(of: file)?.contains(": It ") == true }
        for _ in 0..<2 {
            #expect(lookup("Key") == "(<int64 1>, 'managed')\n")
            #expect(lookup("Drop") == "(<int64 1>, 'managed')\n")
            #expect(lock("Other") == "(true,)\n")
            #expect(problem(of: file)?.contains(": It ") == true)
            try desktop.stopDaemon()
        }
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(
            log.matches(of: /defaultsd: warning: .*App\.json: It .* stay in force in .*\./).count
                >= 2)
        try manager.removeItem(atPath: trouble.contains("directory") ? directory : file)
        if trouble.contains("directory") { try manager.moveItem(atPath: aside, toPath: directory) }
        if !trouble.contains("directory") { #expect(lock("Other") == "(false,)\n") }
        #expect(lookup("Drop") == "(<int64 1>, 'managed')\n")
    }

    @Test
    func `A bad file's last good value comes back when the file that hid it is removed`() throws {
        try desktop.write(#"{"Key": 1}"#, to: "\(Self.app).json", in: .managed)
        try desktop.write(#"{"Key": 2}"#, to: "\(Self.app).d/1.json", in: .managed)
        #expect(lookup("Key") == "(<int64 2>, 'managed')\n")
        try desktop.write("{", to: "\(Self.app).json", in: .managed)
        let main = desktop.path(of: "\(Self.app).json", in: .managed)
        try wait { problem(of: main)?.contains("\(main):1:") == true }
        try desktop.stopDaemon()
        try desktop.remove("\(Self.app).d/1.json", in: .managed)
        #expect(lookup("Key") == "(<int64 1>, 'managed')\n")
        #expect(lock("Key") == "(true,)\n")
    }

    @Test func `A new name for an existing file is reported`() throws {
        try desktop.write(#"{"Key": 1}"#, to: "\(Self.app).json.tmp", in: .managed)
        #expect(lookup("Key").isEmpty)
        let tmp = desktop.path(of: "\(Self.app).json.tmp", in: .managed)
        // As one installs a file that must not replace another.
        #expect(link(tmp, desktop.path(of: "\(Self.app).json", in: .managed)) == 0)
        #expect(unlink(tmp) == 0)
        try wait { lookup("Key") == "(<int64 1>, 'managed')\n" }
    }

    @Test func `Names that look alike are several files, of which a bad one affects no other`()
        throws
    {
        let names = ["\u{E9}", "e\u{301}"].map { "\(Self.app).d/\($0).json" }
        try desktop.write("{", to: names[0], in: .managed)
        try desktop.write(#"{"Key": 1}"#, to: names[1], in: .managed)
        #expect(lookup("Key") == "(<int64 1>, 'managed')\n")
        try desktop.write(#"{"Key": 2}"#, to: names[1], in: .managed)
        try wait { lookup("Key") == "(<int64 2>, 'managed')\n" }
        let listed = desktop.gdbus("org.defaultsd.Maintenance1.ListLayerFiles").output
        #expect(listed.contains("\(names[1])', '')"))
    }

    @Test
    func `A file too large for the database is reported once, and delays no other domain`()
        throws
    {
        let directory = desktop.path(of: "", in: .vendor)
        let written = desktop.python(
            """
            import json, os, sys
            os.makedirs(sys.argv[1] + "/a.large.d")
            # Beside the files' own bytes each key takes some.
            for number in range(4):
                with open(f"{sys.argv[1]}/a.large.d/{number}.json", "w") as file:
                    json.dump({f"{number}-{key}": "x" for key in range(130000)}, file)
            """, directory)
        try #require(written.status == 0)
        try desktop.write(#"{"$locked": ["*"]}"#, to: "org.example.Later.json", in: .managed)
        #expect(lock("Any", in: "org.example.Later") == "(true,)\n")
        #expect(desktop.call("ListKeys", "a.large@system").output == "(@as [],)\n")
        #expect(
            problem(of: directory + "a.large.d/0.json")?.contains("Its values are not in force.")
                == true)
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.matches(of: /a\.large\.d\/0\.json: .* None of it is in force\./).count == 1)
    }

    @Test func `More locks than a file may have are reported with their files`() throws {
        for file in ["1", "2"] {
            let patterns = (0..<65536).map { #""Lock\#(file)-\#($0)""# }.joined(separator: ",")
            try desktop.write(
                #"{"$locked": [\#(patterns)]}"#, to: "\(Self.app).d/\(file).json", in: .managed)
        }
        let refused = desktop.call("SetValue", Self.app, "Lock2-65535", "<1>")
        #expect(refused.error.contains("\(Self.app).d/2.json. Nothing was changed."))
        #expect(lock("Lock1-7") == "(true,)\n")
    }
}
