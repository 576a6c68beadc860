import Foundation
import Glibc
import SystemCalls
import TestSupport
import TestTiers
import Testing

@testable import DBus

/// What proves the application of a caller.
@Suite(.startsPrograms) struct SandboxedApplicationTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: The mark

    private static let instance = "123456"
    private static let mark = ApplicationSandbox.mark(of: "org.example.App", instance: instance)

    private static func changed(_ old: String, _ new: String) -> String {
        mark.replacing(old, with: new)
    }

    @Test func `A mark names the app and the instance`() {
        let mark = FlatpakMark(Array(Self.mark.utf8))
        #expect(mark?.application == "org.example.App" && mark?.instance == Self.instance)
        let ofRuntime = FlatpakMark(Array(Self.changed("[Application]", "[Runtime]").utf8))
        #expect(ofRuntime == mark)
        #expect(FlatpakMark(Array("# A comment.\n\n\(Self.mark)".utf8)) == mark)
    }

    private static let badMarks = [
        "", "\n", "[Application]", "name=org.example.App",
        changed("[Application]", "[Application]\n[Application]"),
        changed("[Application]", "[Runtime]\nname=org.example.App\n[Application]"),
        changed("[Application]", "[Application] "), changed("[Application]", " [Application]"),
        changed("[Application]", "[Application"), changed("[Application]", "[[Application]"),
        changed("[Application]", "[Other]"), changed("[Instance]", "[Other]"),
        mark + "[Instance]\ninstance-id=7\n", mark + "no entry\n", mark + "=value\n",
        changed("name=", "name=org.example.Other\nname="),
        changed("instance-id=", "instance-id=7\ninstance-id="), changed("name=", "name ="),
        changed("name=", "name= "), changed("name=", " name="), changed("name=", "name[de]="),
        changed("name=org.example.App", "name=org.example.App\r"),
        changed("org.example.App\n", "org.example.App\0\n"),
    ]

    private static let badNames = [
        "", "App", "org..App", ".org.App", "org.App.", "org.1App", "org.App/..", "org.App x",
        "org.Äpp", ":1.7", "org.App\\s", "org." + String(repeating: "a", count: 252),
    ]

    private static let badInstances = [
        "", "..", ".", "org.example.App/xdg-run/forged", "1/../2", "/1", "-1", "+1", " 1", "1 ",
        "0x1", "１", String(repeating: "1", count: 21),
    ]

    @Test(
        arguments: badMarks + badNames.map { changed("org.example.App", $0) }
            + badInstances.map { changed(instance, $0) })
    func `A mark that Flatpak would not write names nothing`(_ mark: String) {
        #expect(FlatpakMark(Array(mark.utf8)) == nil)
    }

    @Test func `Bytes that are no text name nothing`() {
        let bytes = Array(Self.mark.utf8)
        #expect(FlatpakMark(bytes + Array("a=\u{FF}\n".utf8)) != nil)
        #expect(FlatpakMark(bytes + [0x61, 0x3D, 0xFF]) == nil)
        #expect(FlatpakMark([0xFF, 0xFE, 0]) == nil)
        var random = SeededGenerator()
        for _ in 0..<2000 {
            var bytes = bytes
            for _ in 0..<3 {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = .random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int(random.next() % 64))
            let instance = FlatpakMark(bytes)?.instance ?? ""
            #expect(instance.allSatisfy { ("0"..."9").contains($0) })
        }
    }

    // MARK: The record

    private var runtime: String { directory.path + "/runtime" }
    private var record: String { "\(runtime)/.flatpak/\(Self.instance)" }
    private var instances: FlatpakInstances { FlatpakInstances(runtimeDirectory: runtime) }

    private func makeRecord(_ info: String = mark, pid: String = "\(getpid())") throws {
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: true)
        try write(info, to: "info")
        try write(pid, to: "pid")
    }

    private func write(_ text: String, to file: String) throws {
        try text.write(toFile: "\(record)/\(file)", atomically: false, encoding: .utf8)
    }

    private var proven: String? { instances.application(markedBy: Array(Self.mark.utf8)) }

    @Test func `A mark that equals the record of a running instance is believed`() throws {
        #expect(proven == nil)
        try makeRecord()
        #expect(proven == "org.example.App")
        try write("\(getpid())\n", to: "pid")
        #expect(proven == "org.example.App")
    }

    @Test func `A mark that differs from the record by one byte is not believed`() throws {
        try makeRecord(Self.changed("branch=1", "branch=2"))
        #expect(proven == nil)
        try write(Self.mark + "\n", to: "info")
        #expect(proven == nil)
        try write(Self.mark, to: "info")
        #expect(proven == "org.example.App")
    }

    @Test(arguments: ["", "0", "-1", "+1", "x", "1 1", "\(getpid())\n\n", "99999999999"])
    func `An instance without the number of a process is not believed`(_ pid: String) throws {
        try makeRecord(pid: pid)
        #expect(proven == nil)
    }

    /// The process is not waited for yet, so no other one can get its number.
    @Test func `An instance whose process has ended is not believed`() throws {
        let child = try ChildProcess(["sleep", "1000"])
        try makeRecord(pid: "\(child.processIdentifier)")
        #expect(proven == "org.example.App")
        child.send(SIGKILL)
        var end = siginfo_t()
        #expect(
            waitid(P_PID, id_t(child.processIdentifier), &end, WEXITED | Int32(WNOWAIT)) == 0)
        #expect(proven == nil)
    }

    /// What takes the place of a file in a record.
    enum Replacement: CaseIterable {
        case link, pipe, directory, large, endless
    }

    private func replace(_ path: String, by replacement: Replacement) throws {
        let aside = path + ".aside"
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        switch replacement {
        case .link: symlink(aside, path)
        case .pipe: mkfifo(path, 0o600)
        case .directory: mkdir(path, 0o700)
        case .large:
            try Data(count: RootDirectory.largestMark + 1).write(to: URL(filePath: path))
        case .endless: symlink("/dev/zero", path)
        }
    }

    @Test(arguments: Replacement.allCases, ["info", "pid"])
    func `A record that is not made of regular files is not believed`(
        _ replacement: Replacement, file: String
    ) throws {
        try makeRecord()
        #expect(proven != nil)
        try replace("\(record)/\(file)", by: replacement)
        #expect(proven == nil)
    }

    @Test(arguments: ["/.flatpak", "/.flatpak/\(instance)"])
    func `A record that a symbolic link leads to is not believed`(path: String) throws {
        try makeRecord()
        #expect(proven != nil)
        try replace(runtime + path, by: .link)
        #expect(proven == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `A record of another user is not believed`() throws {
        for name in ["", "/info", "/pid"] {
            try makeRecord()
            #expect(proven != nil)
            chown(record + name, 65534, 65534)
            #expect(proven == nil)
            chown(record + name, 0, 0)
        }
    }

    @Test func `Without a runtime directory nothing is believed`() throws {
        try makeRecord()
        for directory in [nil, "", "runtime", "/dev/null", "\(runtime)/none"] as [String?] {
            let instances = FlatpakInstances(runtimeDirectory: directory)
            #expect(instances.application(markedBy: Array(Self.mark.utf8)) == nil)
        }
    }

    // MARK: The root directory

    /// A directory like that of a process in `/proc`, with a root of its own in a file system of this
    /// type.
    private func makeProcess(on type: String = "tmpfs", root: String? = nil) throws -> String {
        let process = directory.path + "/process"
        for folder in [process, process + "/ns", directory.path + "/root"] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        }
        let root = root ?? directory.path + "/root"
        let identity = try #require(FileIdentity(of: root))
        let device = MountTable.number(of: identity.device)
        try directory.write(
            "1 0 0:1 / /other rw - ext4 /dev/a rw\n"
                + "2 0 \(device) / / rw master:1 - \(type) none rw\n", to: "process/mountinfo")
        try FileManager.default.createSymbolicLink(
            atPath: process + "/root", withDestinationPath: root)
        for name in ["user", "mnt"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(process)/ns/\(name)", withDestinationPath: "/proc/self/ns/\(name)")
        }
        return process
    }

    private var markFile: String { directory.path + "/root/.flatpak-info" }

    private func application(of process: String) -> String? {
        ExaminedProcess(at: process, among: instances)?.flatpak
    }

    @Test func `A process is named by the mark in its root directory`() throws {
        try makeRecord()
        let process = try makeProcess()
        #expect(application(of: process) == nil)
        try directory.write(Self.mark, to: "root/.flatpak-info")
        #expect(application(of: process) == "org.example.App")
    }

    @Test(arguments: Replacement.allCases)
    func `A mark that is not a regular file names nothing`(_ replacement: Replacement) throws {
        try makeRecord()
        let process = try makeProcess()
        try directory.write(Self.mark, to: "root/.flatpak-info")
        #expect(application(of: process) != nil)
        try replace(markFile, by: replacement)
        #expect(application(of: process) == nil)
    }

    @Test(arguments: ["fuse", "fuse.sshfs", "ext4", "overlay"])
    func `A mark that is not in memory names nothing`(type: String) throws {
        try makeRecord()
        let process = try makeProcess(on: type)
        try directory.write(Self.mark, to: "root/.flatpak-info")
        #expect(application(of: process) == nil)
    }

    /// The identity of a directory's own root stays the same.
    @Test func `A mark of any kind sets a root directory apart`() throws {
        let process = try makeProcess()
        func place() throws -> ProcessPlace {
            try #require(ExaminedProcess(at: process, among: instances)).place
        }
        let before = try place()
        #expect(try place() == before)
        for mark in [Replacement.link, .pipe, .directory, .large] {
            try directory.write("", to: "root/.flatpak-info")
            try replace(markFile, by: mark)
            #expect(try place() != before, "\(mark)")
            try FileManager.default.removeItem(atPath: markFile)
            try FileManager.default.removeItem(atPath: markFile + ".aside")
        }
        #expect(try place() == before)
    }

    @Test func `A process with our root and namespaces is in our place`() throws {
        let process = try makeProcess(root: "/")
        #expect(ExaminedProcess(at: process, among: instances)?.place == ProcessPlace.own)
    }

    // MARK: Labels

    @Test(arguments: [
        ("snap.example.app", "snap.example"), ("snap.example.app (enforce)", "snap.example"),
        ("snap.a-1.hook.configure", "snap.a-1"), ("snap.1a_key.app", "snap.1a_key"),
        ("snap.example", nil), ("snap..app", nil), ("snap.Example.app", nil), ("snap.a.", nil),
        ("snap.1.app", nil), ("snap.-a.app", nil), ("snap.a-.app", nil), ("snap.a--b.app", nil),
        ("snap.a_.app", nil), ("snap.a_b_c.app", nil), ("snap.a/b.app", nil), ("snap.ä.app", nil),
        ("snap.\(String(repeating: "a", count: 41)).app", nil), ("snap.a_12345678901.b", nil),
        ("unconfined", "org.example.App"), ("snapd", "org.example.App"), ("", "org.example.App"),
    ])
    func `The label of a snap names it, whatever a mark says`(label: String, id: String?) {
        #expect(SandboxedApplication.id(label: label, flatpak: "org.example.App") == id)
        var credentials = PeerCredentials(
            userID: 1, processID: 1, securityLabel: label, place: ProcessPlace.own,
            flatpak: "org.example.App")
        #expect(credentials.application == id)
        credentials.forgetProcess()
        #expect(credentials.application == (id == "org.example.App" ? nil : id))
        #expect(credentials.place == nil)
    }
}
