import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// What the daemon says on standard error, to people and to the journal.
@Suite(.startsPrograms, .serialized) struct LogTests {
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

    @Test func `A user who runs the daemon in a shell sees text without priorities`() {
        #expect(complaint(Self.daemon).hasPrefix("defaultsd: error: "))
    }

    @Test(.enabled(if: !JournalTests.hasJournal, "the journal of this machine would get the entry"))
    func `If the journal does not answer, lines have priorities`() {
        #expect(complaint("\(Self.ownStream) \(Self.daemon)").hasPrefix("<2>"))
    }

    @Test func `The stream of another program's standard error is not taken for the daemon's own`()
    {
        #expect(complaint("JOURNAL_STREAM=8:1 \(Self.daemon)").hasPrefix("defaultsd: error: "))
    }

    @Test func `A program that reads priorities without the journal can request them`() {
        #expect(complaint("\(Self.daemon) --priorities").hasPrefix("<2>"))
    }

    @Test func `A message without trouble has no kind`() throws {
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

    @Test func `A file's name can neither move the cursor nor reverse the text`() throws {
        let directory = desktop.directory.path + "/layer"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        let name = "org.example.\u{1B}[31m\r\u{202E}\u{2066}A.json"
        try "{".write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
        let said = desktop.directory.path + "/said"
        let daemon = try desktop.startDaemon(
            by: "sh", "-c", "exec \"$0\" --managed \(directory) --priorities 2> \(said)")
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
        let log = try String(contentsOfFile: said, encoding: .utf8)
        #expect(log.contains(#"\u{1b}[31m\u{d}\u{202e}\u{2066}A.json"#), "\(log)")
        for scalar in log.unicodeScalars where scalar != "\n" {
            #expect(!scalar.properties.isBidiControl)
            #expect(scalar.properties.generalCategory != .control)
        }
    }

    @Test func `A limit on the size of files refuses changes, and does not end the daemon`() throws
    {
        let daemon = try desktop.startDaemon(by: "prlimit", "--fsize=4194304")
        #expect(desktop.call("SetValue", "org.example.App", "Before", "<1>").status == 0)
        let large = try desktop.python(
            """
            \(Desktop.pythonEverything)
            try:
                service.SetValue("(ssv)", "org.example.App", "Large", GLib.Variant("s", "x" * 15000000))
            except GLib.Error as error:
                print(Gio.DBusError.get_remote_error(error))
            """
        ).requireOutput()
        #expect(large == "org.defaultsd.Defaults1.Error.StorageFailed\n")
        #expect(desktop.call("GetValue", "org.example.App", "Before").status == 0)
        #expect(desktop.call("SetValue", "org.example.App", "After", "<1>").status == 0)
        daemon.send(SIGTERM)
        try daemon.requireSuccess()
    }
}
