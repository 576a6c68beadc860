import Foundation
import TestSupport
import Testing

/// What the daemon says on standard error, to people and to the journal.
@Suite(.serialized) struct LogTests {
    private let desktop: Desktop

    init() throws { desktop = try Desktop() }

    /// What a daemon says that has no socket to serve on, and so ends at once.
    private func complaint(_ command: String) -> String {
        desktop.run("sh", "-c", "exec 2>\(desktop.directory.path)/said; \(command)")
        return (try? String(contentsOfFile: desktop.directory.path + "/said", encoding: .utf8))
            ?? ""
    }

    private static let daemon = Desktop.programs + "/defaultsd --peer 99"
    private static let ownStream = "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)"

    @Test func `A user who runs the daemon in a shell sees words and no priorities`() {
        #expect(complaint(Self.daemon).hasPrefix("defaultsd: error: "))
    }

    @Test func `The journal gets priorities`() {
        #expect(complaint("\(Self.ownStream) \(Self.daemon)").hasPrefix("<2>"))
    }

    @Test func `The stream of another program's standard error is not taken for the daemon's own`()
    {
        #expect(complaint("JOURNAL_STREAM=8:1 \(Self.daemon)").hasPrefix("defaultsd: error: "))
    }

    @Test func `Who reads priorities without the journal asks for them`() {
        #expect(complaint("\(Self.daemon) --priorities").hasPrefix("<2>"))
    }

    @Test func `What is no trouble has no kind`() throws {
        _ = try desktop.daemonPID()
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.hasPrefix("defaultsd: Serving "), "\(log)")
    }

    @Test func `The demo ends quietly`() throws {
        let demo = desktop.run(
            Desktop.packageDirectory + "Tests/Demo/demo", Desktop.programs)
        #expect(demo.output.hasSuffix("\n== All of it held.\n"), "\(demo.output)\(demo.error)")
        #expect(demo.error.matches(of: /<\d>|The bus has gone/).isEmpty, "\(demo.error)")
    }
}
