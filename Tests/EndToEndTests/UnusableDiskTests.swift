import Foundation
import TestSupport
import TestTiers
import Testing

/// A disk that is pulled out, and a home that cannot be written, under the daemon that is confined.
@Suite(
    .startsPrograms, .serialized,
    .enabled(if: ReadOnlyMount.isAvailable, "mounting a file system takes root"))
struct UnusableDiskTests {
    private let desktop: Desktop
    private var config: String { desktop.directory.path + "/config" }

    init() throws {
        desktop = try Desktop()
    }

    private func write(_ key: String, _ value: String = "1") -> ProgramResult {
        desktop.tool("write", "org.example.App", key, "-string", value)
    }

    private func keys() -> String { desktop.tool("keys", "org.example.App").output }

    @Test func `A read-only home is served, and status, doctor and write say so`() throws {
        #expect(write("early").status == 0)
        try desktop.stopDaemon()
        var mount: ReadOnlyMount? = try ReadOnlyMount(over: config)
        #expect(keys() == "early\n")
        let written = write("late")
        #expect(written.status == 0)
        #expect(written.error.contains("is not on disk yet"), "\(written.error)")
        #expect(written.error.contains("Read-only file system"), "\(written.error)")
        try desktop.killDaemon(SIGKILL)
        #expect(keys() == "early\nlate\n")
        #expect(desktop.tool("status").output.contains("cannot be written"))
        let doctor = desktop.tool("doctor").output
        #expect(doctor.hasPrefix("problem"), "\(doctor)")
        #expect(doctor.split(separator: "\n").first?.contains("is read-only") == true, "\(doctor)")
        withExtendedLifetime(mount) {}
        mount = nil
        #expect(desktop.tool("sync").status == 0)
        try desktop.killDaemon(SIGTERM)
        try FileManager.default.removeItem(atPath: desktop.directory.path + "/runtime")
        #expect(keys() == "early\nlate\n")
    }

    /// A file system in a file, which can be taken away as a drive can.
    private func makeDisk() throws -> String {
        let image = desktop.directory.path + "/image"
        _ = try desktop.run("truncate", "-s", "64M", image).requireOutput()
        _ = try desktop.run("mkfs.ext4", "-q", image).requireOutput()
        return image
    }

    /// From now on each access is an error.
    private func pullOut() throws {
        // EXT4_IOC_SHUTDOWN
        _ = try desktop.python(
            """
            import fcntl, os, struct, sys
            fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
            """, config
        ).requireOutput()
    }

    private func mountDisk(_ image: String) throws {
        _ = try desktop.run("mount", "-o", "loop", image, config).requireOutput()
    }

    @Test func `A disk that is pulled out ends no daemon, and has everything when it is back`()
        throws
    {
        let image = try makeDisk()
        try mountDisk(image)
        defer { desktop.run("umount", "--lazy", config) }
        // More than SQLite keeps in memory.
        let large = String(repeating: "x", count: 100_000)
        for number in 0..<10 { #expect(write("large\(number)", large).status == 0) }
        try desktop.stopDaemon()
        #expect(write("small").status == 0)
        #expect(desktop.tool("sync").status == 0)
        let daemon = try desktop.daemonPID()
        try pullOut()
        var errors = ""
        for number in 0..<10 {
            errors += desktop.tool("read", "org.example.App", "large\(number)").error
        }
        #expect(errors.contains("cannot be used"), "\(errors)")
        #expect(!errors.contains("damaged"), "\(errors)")
        #expect(try desktop.daemonPID() == daemon)
        // What is taken is kept, and what cannot be kept is refused.
        let isTaken = write("late").status == 0
        #expect(desktop.tool("read", "org.example.App", "late").status == (isTaken ? 0 : 1))
        #expect(desktop.tool("status").output.contains("Input/output error"))
        #expect(try desktop.daemonPID() == daemon)
        // The kernel takes the same file for the same disk, which stays shut down.
        _ = try desktop.run("cp", image, "\(image).back").requireOutput()
        _ = try desktop.run("umount", "--lazy", config).requireOutput()
        try mountDisk("\(image).back")
        #expect(desktop.tool("sync").status == 0)
        #expect(try desktop.property("StorageError") == "<''>")
        #expect(desktop.tool("read", "org.example.App", "large7").output == large + "\n")
        #expect(write("after").status == 0)
        #expect(try desktop.daemonPID() == daemon)
        try desktop.stopDaemon()
        let late = isTaken ? ["late"] : []
        let expected = ["after"] + (0..<10).map { "large\($0)" } + late + ["small"]
        #expect(keys() == expected.map { "\($0)\n" }.joined())
    }

    @Test func `While the disk is away no start shows a default, and doctor leads with the cause`()
        throws
    {
        let image = try makeDisk()
        try mountDisk(image)
        defer { desktop.run("umount", "--lazy", config) }
        #expect(write("early").status == 0)
        try desktop.stopDaemon()
        try pullOut()
        for words in [["read", "org.example.App", "early"], ["keys", "org.example.App"]] {
            let answer = desktop.tool(words)
            #expect(answer.status == 69 && answer.output == "", "\(answer)")
        }
        #expect(write("late").status == 69)
        let doctor = desktop.tool("doctor").output
        let first = doctor.split(separator: "\n").first ?? ""
        #expect(first.hasPrefix("problem") && first.contains("does not answer"), "\(doctor)")
        _ = try desktop.run("cp", image, "\(image).back").requireOutput()
        _ = try desktop.run("umount", "--lazy", config).requireOutput()
        try mountDisk("\(image).back")
        #expect(keys() == "early\n")
    }
}
