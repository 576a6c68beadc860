import Foundation
import TestSupport
import TestTiers
import Testing

/// What the daemon says to the journal.
@Suite(.startsPrograms, .serialized) struct JournalTests {
    /// Whether a journal runs on this machine.
    static let hasJournal = FileManager.default.fileExists(atPath: "/run/systemd/journal/socket")

    private static let catalog = Desktop.packageDirectory + "systemd/defaultsd.catalog"

    /// Why no journal can be run here; nil if one can.
    private static let obstacle: String? = {
        guard geteuid() == 0 else { return "only root can run a journal of its own" }
        let tools = ["sh", "-c", "test -x /lib/systemd/systemd-journald && command -v journalctl"]
        guard ProgramResult.run(tools).status == 0 else { return "systemd-journald is missing" }
        return ProgramResult.run(["unshare", "--mount", "true"]).status == 0
            ? nil : "this system allows no mounts"
    }()

    /// Runs a daemon whose standard error is a real journal of its own, and prints what it has.
    ///
    /// The daemon ends at once, because it has no socket to serve on.
    private static let script = """
        set -e
        mount -t tmpfs tmpfs /run
        mkdir -p /run/systemd/journal /run/log/journal
        /lib/systemd/systemd-journald 2> /dev/null & journal=$!
        trap 'kill $journal; wait $journal' EXIT
        until [ -S /run/systemd/journal/socket ] && [ -S /run/systemd/journal/stdout ]; do sleep 0.05; done
        systemd-cat sh -c 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" --peer 99' "$1" || true
        journalctl --sync
        journalctl --output=json --identifier=defaultsd --no-pager
        """

    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"))
    func `An entry in a real journal has its priority, its ID and one line`() throws {
        let result = ProgramResult.run(
            HangGuard.command
                + [
                    "unshare", "--mount", "--propagation", "private", "sh", "-c", Self.script, "sh",
                    Desktop.programs + "/defaultsd",
                ])
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 1, "\(result.output)\(result.error)")
        let entry = try #require(
            JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(entry["PRIORITY"] as? String == "2")
        #expect(entry["MESSAGE_ID"] as? String == "2d82613491954fc4aaed630c2fd6e172")
        #expect((entry["MESSAGE"] as? String)?.isEmpty == false)
    }

    @Test(
        .enabled(
            if: ProgramResult.run(["journalctl", "--version"]).status == 0, "journalctl is missing")
    )
    func `journalctl reads the catalog`() throws {
        let root = try TemporaryDirectory()
        let directory = root.path + "/usr/lib/systemd/catalog"
        let result = ProgramResult.run([
            "sh", "-c",
            """
            mkdir -p "$1" "$0/var/lib/systemd/catalog" && cp "$2" "$1"
            journalctl --root="$0" --update-catalog && journalctl --root="$0" --dump-catalog "$3"
            """,
            root.path, directory, Self.catalog, "99c5655708664128b3f8a4053a7951a9",
        ])
        #expect(result.output.contains("Subject: A file with values for defaults is invalid"))
        #expect(result.status == 0, "\(result.error)")
    }
}
