import Foundation
import Glibc
import TestSupport
import Testing

/// A disk that refuses: a small file system of its own, filled to the last byte.
@Suite(.serialized, .enabled(if: geteuid() == 0, "mounting a file system takes root"))
final class FullDiskTests {
    let desktop: Desktop
    private let disk: String

    init() throws {
        desktop = try Desktop()
        disk = desktop.directory.path + "/config"
        try #require(
            desktop.run("mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", disk).status
                == 0)
    }

    deinit {
        desktop.bus.stop()
        // Lazily: the daemon that the end of the bus has ended may be on its last flush.
        desktop.run("umount", "--lazy", disk)
    }

    @Test func `Changes stay readable and pending, the error is told, and a freed disk gets them`()
        throws
    {
        #expect(desktop.call("SetValue", "org.example.App", "Before", "<1>").status == 0)
        #expect(desktop.call("Synchronize").status == 0)
        desktop.run("sh", "-c", "cat /dev/zero > '\(disk)/filler' 2>/dev/null")

        #expect(desktop.call("SetValue", "org.example.App", "After", "<2>").status == 0)
        let refused = desktop.call("Synchronize")
        #expect(refused.errorName == BadInputTests.own("StorageFailed"))
        #expect(
            desktop.call("GetValue", "org.example.App", "After").output
                == "(<int64 2>, uint64 3)\n")
        #expect(try desktop.property("StorageError") != "<''>")
        #expect(try desktop.property("PendingChanges") == "<uint32 1>")
        #expect(try desktop.property("DurableGeneration") == "<uint64 2>")

        _ = try desktop.killDaemon(SIGKILL)
        #expect(
            desktop.call("GetValue", "org.example.App", "After").output
                == "(<int64 2>, uint64 3)\n")
        #expect(desktop.call("Synchronize").errorName == BadInputTests.own("StorageFailed"))

        try FileManager.default.removeItem(atPath: disk + "/filler")
        #expect(desktop.call("Synchronize").output == "(uint64 3,)\n")
        #expect(try desktop.property("StorageError") == "<''>")
        let log = try String(contentsOfFile: desktop.directory.path + "/log", encoding: .utf8)
        #expect(log.split(separator: "\n").filter { $0.hasPrefix("<3>") }.count == 2, "\(log)")
    }
}
