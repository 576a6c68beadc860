import Foundation
import TestSupport
import TestTiers
import Testing

/// What each verb does in a session without a service.
@Suite(.startsPrograms, .serialized) struct ServicelessVerbTests {
    /// A line of each verb, and whether it needs the service itself: a daemon for one command could not
    /// do it.
    private static let lines: [(line: String, needsService: Bool)] = [
        ("write org.example.App Key -int 1", false), ("read org.example.App Key", false),
        ("read-type org.example.App Key", false), ("rename org.example.App Key New", false),
        ("keys org.example.App", false), ("domains", false), ("find New", false),
        ("explain org.example.App New", false), ("locked org.example.App", false),
        ("inspect org.example.App New", false), ("export org.example.App -", false),
        ("import org.example.App list", false), ("apply -f document", false),
        ("apply owned --changed", false), ("owners", false), ("drift", false),
        ("unapply me", false),
        ("grant org.example.App read org.example.Other", false), ("grants", false),
        ("revoke org.example.App read org.example.Other", false), ("lint list", false),
        ("history", false), ("undo --yes", false), ("redo --yes", false),
        ("sync", false), ("status", false), ("stats", false), ("doctor", false),
        ("delete org.example.App New", false), ("write org.example.App Key 1", false),
        ("delete-all org.example.App", false),
        ("backup now", false), ("backup list", false), ("backup restore latest", false),
        ("factory-reset --yes", false),
        ("roam add org.example.App", false), ("roam domains", false),
        ("roam drop org.example.App", false), ("roam conflicts", false), ("roam pause", false),
        ("roam resume", false),
        ("watch", true), ("watch org.example.App Key", true),
        ("adopt", true), ("adopt gsettings", true), ("adopt xfconf", true), ("adopt dconf", true),
        ("adopt portal", true), ("adopt --dry-run", true), ("release", true),
        ("release xfconf", true), ("release --dry-run", true),
        ("roam status", true), ("roam status --json", true), ("roam enable", true),
        ("roam enable --directory /tmp", true), ("roam enable --server host=a.example", true),
        ("roam enable --directory /tmp --encrypt --passphrase-file document", true),
        ("roam disable", true), ("roam machines", true), ("roam forget abcd", true),
        ("roam now", true), ("roam passphrase --passphrase-file document", true),
    ]

    private static let sentence =
        "defaultsctl: This command needs the defaults service, and this session has none. Run "
        + "'defaultsctl doctor' to find the cause.\n"

    @Test func `The table has all verbs`() {
        func verbs(of word: String?) -> Set<String> {
            let help = ProgramResult.run(
                ["\(Desktop.programs)/defaultsctl", "help"] + [word].compactMap(\.self))
            let names = help.output.matches(of: /\n  ([a-z][a-z-]*)  +[A-Z]/).map { String($0.1) }
            return Set(names.map { [word, $0].compactMap(\.self).joined(separator: " ") })
        }
        let groups: Set = ["backup", "roam"]
        let all = groups.reduce(verbs(of: nil).subtracting(groups)) { $0.union(verbs(of: $1)) }
        let named = Self.lines.map { line, _ in
            let words = line.split(separator: " ").map(String.init)
            return words.prefix(groups.contains(words[0]) ? 2 : 1).joined(separator: " ")
        }
        #expect(Set(named) == all)
    }

    /// Runs all lines in a session, where each one that needs no service leaves what the next expects.
    private func run(on bus: String) throws {
        let desktop = try Desktop()
        let directory = desktop.directory.path + "/work"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        let owned = #"{"$defaults": 1, "owner": "me", "domains": {"org.example.App": {"Own": 1}}}"#
        let files = [
            "list": #"{"New": 2}"#, "document": "write org.example.App New -int 3\n",
            "owned": owned,
        ]
        for (name, text) in files {
            try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
        }
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        for (line, needsService) in Self.lines {
            let answer = desktop.run(
                ["sh", "-c", "cd \(directory) && exec \(Desktop.programs)/defaultsctl \(line)"],
                environment: environment)
            if needsService {
                #expect(answer.status == 69 && answer.output == "", "\(line): \(answer)")
                #expect(answer.error == Self.sentence, "\(line)")
            } else if line != "doctor" {
                #expect(answer.status == 0, "\(line): \(answer)")
            }
        }
    }

    @Test func `Without a bus, verbs that need the service say so in the same sentence`() throws {
        try run(on: "unix:path=/nonexistent/bus")
    }

    @Test func `On a bus that knows no service, verbs that need it say so in the same sentence`()
        throws
    {
        let bus = try PrivateBus()
        try run(on: bus.address)
    }
}
