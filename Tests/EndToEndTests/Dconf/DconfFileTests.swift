import Foundation
import Glibc
import TestSupport
import TestTiers
import Testing

/// dconf's file, if something else is in its place or somebody else has written it.
@Suite(.startsPrograms, .serialized, .enabled(if: RealDconf.isAvailable, RealDconf.missing))
struct DconfFileTests {
    private let dconf: DconfDesktop
    private var desktop: Desktop { dconf.desktop }

    init() throws { dconf = try DconfDesktop() }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(
            atPath: (dconf.file as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true)
    }

    private var log: String {
        (try? String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)) ?? ""
    }

    // A pipe is left out: the library of dconf waits in it for ever before it calls anybody.
    @Test(arguments: ["directory", "link", "folder"])
    func `A change that programs cannot see is no success, and is kept until they can`(
        obstacle: String
    ) throws {
        let folder = (dconf.file as NSString).deletingLastPathComponent
        switch obstacle {
        case "directory":
            try FileManager.default.createDirectory(
                atPath: dconf.file, withIntermediateDirectories: true)
        case "link":
            try makeFolder()
            try "text".write(toFile: folder + "/target", atomically: true, encoding: .utf8)
            #expect(symlink(folder + "/target", dconf.file) == 0)
        default: try "text".write(toFile: folder, atomically: true, encoding: .utf8)
        }
        for value in 1...3 {
            let result = dconf.dconf("write", "/org/example/a", "\(value)")
            #expect(result.status != 0 && result.error.contains("The change is kept"), "\(result)")
        }
        #expect(desktop.tool("read", "org.example", "a").output == "3\n")
        #expect(log.ranges(of: "cannot be written").count == 1, "\(log)")
        if obstacle == "link" {
            #expect(try String(contentsOfFile: folder + "/target", encoding: .utf8) == "text")
        }
        try FileManager.default.removeItem(atPath: obstacle == "folder" ? folder : dconf.file)
        try wait { dconf.read("/org/example/a") == "3" }
        try wait { log.contains("can be written again") }
    }

    /// No schema has the path of an app in a Flatpak.
    @Test(arguments: ["missing", "damaged", "empty"])
    func `A file that is lost comes back with the settings of apps without a schema`(
        loss: String
    ) throws {
        let folder = (dconf.file as NSString).deletingLastPathComponent
        try dconf.dconf("write", "/com/example/flatpak/a", "uint32 1").requireOutput()
        try dconf.dconf("write", "/com/example/later/a", "[('a', 'b')]").requireOutput()
        let before = dconf.dconf("dump", "/").output
        try desktop.killDaemon(SIGKILL)
        for name in ["user~", "../defaultsd/dconf.imported"] {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        switch loss {
        case "missing": try FileManager.default.removeItem(atPath: dconf.file)
        case "damaged":
            try Data(repeating: 7, count: 300).write(to: URL(filePath: dconf.file))
        default: try Data().write(to: URL(filePath: dconf.file))
        }
        _ = try desktop.daemonPID()
        try wait { dconf.dconf("dump", "/").output == before }
    }

    @Test func `What somebody else has stored in the file is taken over`() throws {
        let other = try DconfDesktop(.dconf)
        try other.dconf("write", "/org/example/a", "uint32 1").requireOutput()
        try other.dconf("write", "/org/example/b", "'both'").requireOutput()
        try desktop.tool("write", "org.example", "b", "own").requireOutput()
        try desktop.stopDaemon()
        try makeFolder()
        try? FileManager.default.removeItem(atPath: dconf.file)
        try FileManager.default.copyItem(atPath: other.file, toPath: dconf.file)
        _ = try desktop.daemonPID()
        try wait { desktop.tool("read", "org.example", "a").output == "1\n" }
        try wait { dconf.read("/org/example/b") == "'own'" }
        #expect(dconf.read("/org/example/a") == "uint32 1")
        // While the daemon runs, too. What was removed in the file is removed here.
        try other.dconf("write", "/org/example/c", "3").requireOutput()
        try other.dconf("reset", "/org/example/a").requireOutput()
        try FileManager.default.removeItem(atPath: dconf.file)
        try FileManager.default.copyItem(atPath: other.file, toPath: dconf.file)
        try dconf.dconf("write", "/org/example/d", "4").requireOutput()
        #expect(
            dconf.dconf("dump", "/org/example/").output == "[/]\nb='own'\nc=3\nd=4\n")
    }

    /// dconf's own service writes the whole file again when one setting is changed.
    @Test func `Values of other layers in a file of somebody else do not become the user's`() throws
    {
        let domain = "org.gnome.desktop.interface"
        try desktop.tool("write", domain, "own", "mine").requireOutput()
        try desktop.write(#"{"vendor": "v"}"#, to: "\(domain).json", in: .vendor)
        try desktop.write(#"{"own": "fixed"}"#, to: "\(domain).json", in: .managed)
        try dconf.dconf("write", "/org/example/a", "1").requireOutput()
        let folder = "/org/gnome/desktop/interface/"
        try wait { dconf.read(folder + "vendor") == "'v'" }
        try wait { dconf.read(folder + "own") == "'fixed'" }
        let dump = dconf.dconf("dump", "/").output
        try desktop.stopDaemon()
        let other = try DconfDesktop(.dconf)
        try other.dconf("load", "/", input: dump).requireOutput()
        try other.dconf("write", "/org/example/theirs", "2").requireOutput()
        try FileManager.default.removeItem(atPath: dconf.file)
        try FileManager.default.copyItem(atPath: other.file, toPath: dconf.file)
        _ = try desktop.daemonPID()
        try wait { desktop.tool("read", "org.example", "theirs").output == "2\n" }
        try dconf.dconf("write", "/org/example/b", "1").requireOutput()
        try desktop.remove("\(domain).json", in: .vendor)
        try wait { dconf.read(folder + "vendor").isEmpty }
        try desktop.remove("\(domain).json", in: .managed)
        try wait { dconf.read(folder + "own") == "'mine'" }
    }

    /// Settings that no schema has are known by what was imported.
    @Test func `A file that was lost comes back with everything that was imported`() throws {
        let other = try DconfDesktop(.dconf)
        try other.dconf("write", "/net/unknown/a", "1").requireOutput()
        try makeFolder()
        try FileManager.default.copyItem(atPath: other.file, toPath: dconf.file)
        _ = try desktop.daemonPID()
        try wait { desktop.tool("read", "net.unknown", "a").output == "1\n" }
        try dconf.dconf("write", "/org/example/a", "1").requireOutput()
        try desktop.stopDaemon()
        try FileManager.default.removeItem(atPath: dconf.file)
        _ = try desktop.daemonPID()
        try wait { dconf.read("/net/unknown/a") == "1" }
    }

    @Test func `A damaged file is kept, and written again`() throws {
        try makeFolder()
        try "no database".write(toFile: dconf.file, atomically: true, encoding: .utf8)
        try dconf.dconf("write", "/org/example/a", "1").requireOutput()
        #expect(dconf.read("/org/example/a") == "1")
        #expect(try String(contentsOfFile: dconf.file + "~", encoding: .utf8) == "no database")
    }

    @Test func `The file is private, and the daemon leaves nothing beside it`() throws {
        try dconf.dconf("write", "/org/example/a", "1").requireOutput()
        let folder = (dconf.file as NSString).deletingLastPathComponent
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["user"])
        let mode = try FileManager.default.attributesOfItem(atPath: dconf.file)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        let before = try FileManager.default.attributesOfItem(atPath: dconf.file)
        try dconf.dconf("write", "/org/example/a", "1").requireOutput()
        try dconf.dconf("reset", "-f", "/org/other/").requireOutput()
        try desktop.tool("write", "org.other.program", "a", "-int", "1").requireOutput()
        try desktop.stopDaemon()
        let after = try FileManager.default.attributesOfItem(atPath: dconf.file)
        #expect(before[.systemFileNumber] as? NSNumber == after[.systemFileNumber] as? NSNumber)
    }

    @Test func `A daemon that does not serve dconf does not touch the file`() throws {
        let plain = try Desktop()
        try plain.tool("write", "org.gnome.desktop.interface", "a", "-int", "1").requireOutput()
        try plain.stopDaemon()
        let path = plain.directory.path
        #expect(!FileManager.default.fileExists(atPath: path + "/config/dconf"))
        #expect(!FileManager.default.fileExists(atPath: path + "/runtime/dconf"))
    }
}
