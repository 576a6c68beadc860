public import DefaultsModel
internal import Glibc

extension HostID {
    /// The identity of the machine that this process runs on: its machine ID, or, where it has
    /// none, its host name.
    ///
    /// See [machine-id](https://www.freedesktop.org/software/systemd/man/latest/machine-id.html).
    public static func ofThisMachine() -> HostID {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let file = try? File(path, O_RDONLY), let bytes = try? file.read(128, at: 0),
                let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
                let host = HostID(line)
            {
                return host
            }
        }
        return HostID(HostName.current) ?? .localhost
    }
}
