import Foundation
import TestSupport
import TestTiers
import Testing

/// Its file has a capability, so that it may be there and not run.
private let keyringRuns =
    ProgramResult.run(["gnome-keyring-daemon", "--version"]).status == 0

/// Two machines of a user that encrypt what they exchange, each with a keyring of its own.
@Suite(.startsPrograms, .enabled(if: keyringRuns, "gnome-keyring-daemon does not work here"))
struct EncryptedRoamingTests {
    private static let editor = "org.example.Editor"

    let shared: TemporaryDirectory
    let laptop: RoamingDesktop
    let tower: RoamingDesktop

    init() throws {
        shared = try TemporaryDirectory()
        laptop = try Self.machine(meetingIn: shared.path)
        tower = try Self.machine(meetingIn: shared.path)
    }

    /// A machine whose bus starts a keyring that a log-in has unlocked.
    private static func machine(meetingIn folder: String) throws -> RoamingDesktop {
        let machine = try RoamingDesktop(meetingIn: folder)
        let directory = machine.desktop.directory
        let password = try directory.write("swordfish", to: "password")
        let script = try directory.write(
            "exec gnome-keyring-daemon --foreground --components=secrets --unlock <\(password)",
            to: "keyring")
        try directory.write(
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sh \(script)\n",
            to: "services/org.freedesktop.secrets.service")
        _ = try machine.desktop.askBus("ReloadConfig")
        return machine
    }

    private func enable(_ machine: RoamingDesktop, _ passphrase: String) -> ProgramResult {
        machine.desktop.run(
            [
                Desktop.programs + "/defaultsctl", "roam", "enable", "--directory", shared.path,
                "--encrypt", "--passphrase-file", "-",
            ], input: passphrase + "\n")
    }

    /// All that is in the directory in which the machines meet.
    private func exchanged() throws -> [UInt8] {
        var bytes: [UInt8] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: shared.path) {
            bytes += Array(name.utf8)
            bytes += (try? Data(contentsOf: URL(filePath: shared.path + "/" + name))) ?? Data()
        }
        return bytes
    }

    @Test
    func `Of 1 000 values, no name and no value is at the place, and the other machine has them`()
        throws
    {
        try enable(laptop, "correct horse battery").requireOutput()
        try laptop.roam("add", Self.editor)
        var values: [String: String] = [:]
        for number in 0..<1000 { values["Name\(number)Word"] = "Value\(number)Text" }
        let file = laptop.desktop.directory.path + "/values.json"
        try JSONEncoder().encode(values).write(to: URL(filePath: file))
        try laptop.desktop.tool("import", Self.editor, file).requireOutput()
        try laptop.write(Self.editor, "LastName", "LastText")
        try laptop.roam("now")

        try enable(tower, "correct horse battery").requireOutput()
        try tower.waitUntil(Self.editor, "LastName", is: "LastText")
        #expect(tower.read(Self.editor, "Name999Word") == "Value999Text")
        try tower.write(Self.editor, "LastName", "OtherText")
        try laptop.waitUntil(Self.editor, "LastName", is: "OtherText")

        let machines = try tower.roam("machines")
        #expect(machines.split(separator: "\n").count == 2 && !machines.contains("unknown"))

        let text = String(decoding: try exchanged(), as: UTF8.self)
        #expect(text.contains("org.defaultsd.RoamSealed"))
        var words = values.flatMap { [$0.key, $0.value] }
        words += [Self.editor, "example", "LastName", "LastText", "OtherText", "NSKeyedArchiver"]
        #expect(words.filter(text.contains) == [])
    }

    @Test func `A machine with another passphrase learns nothing, and sends nothing`() throws {
        try enable(laptop, "correct horse battery").requireOutput()
        try laptop.roam("add", Self.editor)
        try laptop.write(Self.editor, "Font", "Mono")
        try laptop.roam("now")
        try tower.write(Self.editor, "Theme", "Dark")
        let result = enable(tower, "wrong")
        #expect(result.status == 1)
        #expect(result.error.contains("The passphrase is not the one of this place"))
        #expect(tower.read(Self.editor, "Font") == nil)
        // The place was not taken.
        #expect(tower.refusal("now").contains("Roaming is turned off"))
        try laptop.roam("now")
        #expect(laptop.read(Self.editor, "Theme") == nil)
        try enable(tower, "correct horse battery").requireOutput()
        try tower.waitUntil(Self.editor, "Font", is: "Mono")
        try laptop.waitUntil(Self.editor, "Theme", is: "Dark")
    }

    @Test func `A new passphrase is for new machines, and the others go on`() throws {
        try enable(laptop, "first").requireOutput()
        try laptop.roam("add", Self.editor)
        let file = try laptop.desktop.directory.write("second\n", to: "passphrase")
        try laptop.roam("passphrase", "--passphrase-file", file)
        try laptop.write(Self.editor, "Font", "Mono")
        try laptop.roam("now")
        #expect(enable(tower, "first").status == 1)
        try enable(tower, "second").requireOutput()
        try tower.waitUntil(Self.editor, "Font", is: "Mono")
    }

    @Test func `Encrypted values and others do not mix at a place`() throws {
        try enable(laptop, "correct horse battery").requireOutput()
        try laptop.roam("add", Self.editor)
        try laptop.write(Self.editor, "Font", "Mono")
        try laptop.roam("now")
        #expect(
            tower.refusal("enable", "--directory", shared.path).contains("roam enable --encrypt"))
        #expect(tower.read(Self.editor, "Font") == nil)

        let other = try TemporaryDirectory()
        try tower.roam("enable", "--directory", other.path)
        try tower.roam("add", Self.editor)
        try tower.write(Self.editor, "Font", "Serif")
        try tower.roam("now")
        let file = try laptop.desktop.directory.write("words\n", to: "passphrase")
        let refusal = laptop.refusal(
            "enable", "--directory", other.path, "--encrypt", "--passphrase-file", file)
        #expect(refusal.contains("values that are not encrypted"))
        #expect(laptop.read(Self.editor, "Font") == "Mono")
        #expect(tower.read(Self.editor, "Font") == "Serif")
    }

    @Test func `Without a keyring, nothing is sent, and the error says so`() throws {
        let poor = try RoamingDesktop(meetingIn: shared.path)
        try poor.write(Self.editor, "Font", "Mono")
        try poor.roam("add", Self.editor)
        let result = enable(poor, "correct horse battery")
        #expect(result.status == 1)
        #expect(result.error.contains("keyring"), "\(result.error)")
        #expect(!String(decoding: try exchanged(), as: UTF8.self).contains("RoamSealed"))
    }

    /// Runs a command on a terminal, and answers its questions.
    private static let typing = """
        import os, pty, sys
        process, terminal = pty.fork()
        if process == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        text = b""
        for question, answer in ((b"Passphrase: ", b"horxe\\x7f\\x7fse\\n"), (b"again: ", b"horse\\n")):
            while question not in text:
                text += os.read(terminal, 1000)
            os.write(terminal, answer)
        try:
            while part := os.read(terminal, 1000):
                text += part
        except OSError:
            pass
        print(text.decode())
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        """

    @Test func `A passphrase that is typed is not shown, and is asked for twice where it is new`()
        throws
    {
        let shown = try laptop.desktop.python(
            Self.typing, Desktop.programs + "/defaultsctl", "roam", "enable", "--directory",
            shared.path, "--encrypt"
        ).requireOutput()
        // The next exchange may be under way.
        try wait { try laptop.roam("status").contains("up to date") }
        #expect(!shown.contains("hor"))
        try enable(tower, "horse").requireOutput()
    }

    @Test func `A wrong line gets an answer that helps`() throws {
        #expect(
            laptop.refusal("enable", "--directory", shared.path, "--passphrase-file", "-")
                .contains("is for --encrypt"))
        #expect(enable(laptop, "").error.contains("No passphrase was given"))
        // Nothing was set up by that.
        #expect(laptop.refusal("now").contains("Roaming is not set up"))
    }
}
