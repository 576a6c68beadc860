import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// A runtime directory that all users share, as `/tmp` is, in which another user was first.
@Suite(
    .startsPrograms, .serialized, .enabled(if: geteuid() == 0, "only root may give files to others")
)
struct SharedRuntimeTests {
    private let desktop: Desktop
    private let victims: Victims
    private static let nobody = uid_t(65534)

    init() throws {
        desktop = try Desktop()
        victims = try Victims(in: desktop.directory.path)
        try #require(chmod(desktop.directory.path + "/runtime", 0o1777) == 0)
    }

    /// What another user has made with the name of the daemon's directory.
    enum Squatter: String, CaseIterable, CustomTestStringConvertible {
        case directory, openDirectory, linkToTheirs, linkToVictim, file, pipe

        var testDescription: String { rawValue }
    }

    @Test(arguments: Squatter.allCases)
    func `What another user put in a shared runtime directory is neither used nor changed`(
        squatter: Squatter
    ) throws {
        let path = desktop.directory.path + "/runtime/defaultsd"
        let theirs = desktop.directory.path + "/theirs"
        try #require(mkdir(theirs, 0o777) == 0 && chown(theirs, Self.nobody, Self.nobody) == 0)
        switch squatter {
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .openDirectory: try #require(mkdir(path, 0o700) == 0 && chmod(path, 0o777) == 0)
        case .linkToTheirs: try #require(symlink(theirs, path) == 0)
        case .linkToVictim: try #require(symlink(victims.folder, path) == 0)
        case .file: try Data().write(to: URL(filePath: path))
        case .pipe: try #require(mkfifo(path, 0o666) == 0)
        }
        try #require(lchown(path, Self.nobody, Self.nobody) == 0)
        let (before, status) = (try victims.state(), try Self.status(of: path))
        try desktop.tool("write", "a.b", "key", "-int", "1").requireOutput()
        try desktop.killDaemon(SIGKILL)
        #expect(desktop.tool("read", "a.b", "key").output == "1\n")
        try desktop.stopDaemon()
        #expect(desktop.tool("read", "a.b", "key").output == "1\n")
        #expect(try victims.state() == before)
        #expect(try Self.status(of: path) == status)
        #expect(try FileManager.default.contentsOfDirectory(atPath: theirs) == [])
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.contains("warning: The directory \(path) cannot be used"), "\(log)")
    }

    @Test func `No program speaks to another user's socket`() throws {
        let path = desktop.directory.path + "/runtime/defaultsd"
        // Everybody may enter, so that the tool could connect.
        try #require(chmod(desktop.directory.path, 0o711) == 0)
        let squatter = try desktop.start(
            "setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups",
            "/usr/bin/python3", "-c",
            """
            import os, socket, sys
            os.umask(0)
            os.mkdir(sys.argv[1], 0o777)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1] + "/direct")
            listener.listen(100)
            print("listening", flush=True)
            listener.accept()
            print("spoken to", flush=True)
            """, path)
        try #require(squatter.lines?.next() == "listening")
        try desktop.tool("write", "a.b", "key", "-string", "secret").requireOutput()
        #expect(desktop.tool("read", "a.b", "key").output == "secret\n")
        squatter.send(SIGTERM)
        #expect(squatter.lines?.next() == nil)
        try desktop.stopDaemon()
    }

    @Test func `A link that the user has put there is followed only into a closed directory`()
        throws
    {
        let path = desktop.directory.path + "/runtime/defaultsd"
        try #require(symlink(victims.folder, path) == 0)
        let before = try victims.state()
        try desktop.tool("write", "a.b", "key", "-int", "1").requireOutput()
        try desktop.stopDaemon()
        #expect(try victims.state() == before)
    }

    private static func status(of path: String) throws -> String {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
        return "\(String(status.st_mode, radix: 8)) \(status.st_uid) \(names ?? [])"
    }
}
