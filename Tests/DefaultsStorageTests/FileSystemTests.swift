import Glibc
import SystemCalls
import TestTiers
import Testing

@testable import DefaultsStorage

@Suite(.startsPrograms) struct FileSystemTests {
    @Test(
        "A file system is known by its number",
        arguments: [
            (0x6969, "nfs", true), (0xFF53_4D42, "cifs", true), (0xFE53_4D42, "smb3", true),
            (0x0102_1997, "9p", true), (0x00C3_6400, "ceph", true), (0x5346_414F, "afs", true),
            (0x0BD0_0BD0, "lustre", true), (0x0116_1970, "gfs2", true), (0xEF53, "ext4", false),
            (0x9123_683E, "btrfs", false), (0x0102_1994, "tmpfs", false), (0x12, "0x12", false),
        ] as [(UInt32, String, Bool)])
    func number(type: UInt32, name: String, isNetwork: Bool) {
        let fileSystem = FileSystem(type: type) { "fuse.sshfs" }
        #expect(fileSystem.name == name)
        #expect(fileSystem.isNetwork == isNetwork)
    }

    @Test(
        "A file system in user space is known by the type of its mount",
        arguments: [
            ("fuse.sshfs", "fuse.sshfs", true), ("virtiofs", "virtiofs", true),
            ("fuse.gocryptfs", "fuse.gocryptfs", false), (nil, "fuse", false),
        ] as [(String?, String, Bool)])
    func program(mounted: String?, name: String, isNetwork: Bool) {
        let fileSystem = FileSystem(type: 0x6573_5546) { mounted }
        #expect(fileSystem.name == name)
        #expect(fileSystem.isNetwork == isNetwork)
    }

    @Test("The list of mounts tells the type of a device")
    func mounts() {
        let table = MountTable(
            text: """
                22 28 0:21 / /proc rw,relatime - proc proc rw
                nonsense
                36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue
                41 28 0:57 / /home/u/far rw,nosuid - fuse.sshfs u@host:/home/u rw,user_id=1000
                42 28 0:58 / /home/u/cut rw,nosuid -
                43 28 0:59 / /home/u/bare rw
                """)
        #expect(table.type(ofDevice: "0:57") == "fuse.sshfs")
        #expect(table.type(ofDevice: "98:0") == "ext3")
        for number in ["0:58", "0:59", "0:60", ""] {
            #expect(table.type(ofDevice: number) == nil)
        }
    }

    @Test("The kernel's data of a directory agrees with stat(1) and its list of mounts")
    func directory() throws {
        let table = try #require(MountTable.current)
        for path in ["/dev/shm", "/tmp"] {
            let fileSystem = FileSystem(ofDirectory: path)
            let number = try Scratch.output(of: "stat", "-f", "-c", "%t", path)
            let type = try #require(UInt32(number, radix: 16))
            var status = stat()
            try #require(stat(path, &status) == 0)
            let device = MountTable.number(of: status.st_dev)
            #expect(fileSystem == FileSystem(type: type) { table.type(ofDevice: device) })
        }
        #expect(FileSystem(ofDirectory: "/nowhere").isNetwork == false)
    }
}
