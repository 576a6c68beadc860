internal import CLinux
internal import Glibc

/// Files that are only named, so that neither their contents nor the program that serves their file
/// system (FUSE) can make this process wait.
extension File {
    /// The flag of open(2) for a descriptor that only names the file.
    ///
    /// Opening a pipe or a device in this way has no effect.
    package static var pathOnly: Int32 { clinux_path_only() }
}

extension FileIdentity {
    /// The identity of an open file, as the kernel has it in memory; nil if the kernel does not say.
    package init?(cachedOfDescriptor number: Int32) {
        var (major, minor): (UInt32, UInt32) = (0, 0)
        var inode: UInt64 = 0
        guard clinux_cached_identity(number, &major, &minor, &inode) == 0 else { return nil }
        self.init(device: gnu_dev_makedev(major, minor), inode: ino_t(inode))
    }
}
