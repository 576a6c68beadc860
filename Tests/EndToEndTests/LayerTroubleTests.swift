import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// Files of the layers that are too large.
@Suite(.startsPrograms, .serialized) struct LayerTroubleTests {
    let desktop: Desktop
    private static let app = "org.example.App"

    init() throws { desktop = try Desktop() }

    private func lock(_ key: String, in domain: String = app) -> String {
        desktop.call("IsLocked", domain, key).output
    }

    /// What is wrong with a file, as the daemon lists it.
    private func problem(of path: String) -> String? {
        desktop.gdbus("org.defaultsd.Maintenance1.ListLayerFiles").output
            .split(separator: "), (").first { $0.contains("'\(path)',") }.map(String.init)
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
