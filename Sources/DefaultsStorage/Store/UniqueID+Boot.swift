internal import Glibc

extension UniqueID {
    /// The identity of this boot of the machine, which Linux makes anew each time.
    ///
    /// See [boot_id](https://www.kernel.org/doc/html/latest/admin-guide/sysctl/kernel.html#random).
    /// Where it cannot be read every start counts as the first of its boot, which is safe.
    static func ofThisBoot() -> UniqueID {
        guard let file = try? File("/proc/sys/kernel/random/boot_id", O_RDONLY),
            let bytes = try? file.read(64, at: 0),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first
        else { return .random() }
        return UniqueID(spelling: line) ?? .random()
    }
}
