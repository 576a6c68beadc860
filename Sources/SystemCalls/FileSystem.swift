internal import CLinux
internal import Glibc

/// A file system, as far as it matters to the files on it.
package struct FileSystem: Hashable, Sendable {
    /// Its name, as in mount(8); if this program does not know it, the kernel's number.
    package let name: String
    /// Whether other machines reach the same files.
    ///
    /// Then a server, or an agreement of the machines, keeps the locks and makes writes durable.
    package let isNetwork: Bool

    /// The file system of a directory.
    package init(ofDirectory path: String) {
        guard let file = try? File(path, O_RDONLY | O_DIRECTORY),
            let status = try? file.status()
        else {
            self.init(type: 0)
            return
        }
        self.init(type: clinux_type_of_file_system(file.descriptor)) {
            MountTable.current?.type(ofDevice: MountTable.number(of: status.device))
        }
    }

    /// - Parameters:
    ///   - type: Linux's number for it.
    ///   - mounted: Looks up what it is mounted as, such as `fuse.sshfs`. It is called if several
    ///     file systems have the number.
    package init(type: UInt32, mountedAs mounted: () -> String? = { nil }) {
        let known = FileSystem.types[type]
        let name = type == FileSystem.fuse ? mounted() ?? known?.name : known?.name
        self.name = name ?? "0x\(String(type, radix: 16))"
        isNetwork =
            known?.isNetwork ?? false || name.map(FileSystem.networkPrograms.contains) ?? false
    }

    /// The common number of all file systems that a program or another kernel serves.
    private static let fuse: UInt32 = 0x6573_5546

    /// Those with the number ``fuse`` whose files are on other machines.
    private static let networkPrograms: Set<String> = [
        "virtiofs", "fuse.ceph-fuse", "fuse.curlftpfs", "fuse.cvmfs2", "fuse.davfs",
        "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.juicefs", "fuse.lizardfs", "fuse.mfs",
        "fuse.rclone", "fuse.s3fs", "fuse.seaweedfs", "fuse.smbnetfs", "fuse.sshfs",
    ]

    /// The numbers from `linux/magic.h`, and from the sources of file systems that are not part of
    /// Linux.
    ///
    /// See [statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html).
    private static let types: [UInt32: (name: String, isNetwork: Bool)] = [
        0x0000_6969: ("nfs", true), 0xFF53_4D42: ("cifs", true), 0xFE53_4D42: ("smb3", true),
        0x0000_517B: ("smbfs", true), 0x0102_1997: ("9p", true), 0x00C3_6400: ("ceph", true),
        0x5346_414F: ("afs", true), 0x6B41_4653: ("afs", true), 0x7375_7245: ("coda", true),
        0x0BD0_0BD0: ("lustre", true), 0x0116_1970: ("gfs2", true), 0x7461_636F: ("ocfs2", true),
        0x4750_4653: ("gpfs", true), 0x1983_0326: ("beegfs", true),
        0x2003_0528: ("orangefs", true), 0x0000_564C: ("ncpfs", true),
        0xAAD7_AAEA: ("panfs", true), 0xBACB_ACBC: ("vmhgfs", true),
        0x786F_4256: ("vboxsf", true),

        0x0000_EF53: ("ext4", false), 0x5846_5342: ("xfs", false), 0x9123_683E: ("btrfs", false),
        0xF2F5_2010: ("f2fs", false), 0x2FC1_2FC1: ("zfs", false), 0xCA45_1A4E: ("bcachefs", false),
        0x0102_1994: ("tmpfs", false), 0x8584_58F6: ("ramfs", false),
        0x794C_7630: ("overlay", false), 0x0000_F15F: ("ecryptfs", false),
        0x3153_464A: ("jfs", false), 0x5265_4973: ("reiserfs", false),
        0x0000_3434: ("nilfs2", false), 0x2405_1905: ("ubifs", false),
        0x7366_746E: ("ntfs3", false), 0x0000_4D44: ("vfat", false), 0x2011_BAB0: ("exfat", false),
        fuse: ("fuse", false),
    ]
}
