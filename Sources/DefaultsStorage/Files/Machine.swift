internal import DefaultsModel
internal import Glibc
internal import SystemCalls

/// What tells which machine this process runs on.
struct Machine: Sendable {
    /// Its identity, which stays.
    let id: HostID
    /// Asks for the name that people know it by, which may change at any time.
    let name: @Sendable () -> String

    /// This machine, by its machine ID, or, where it has none, by its host name.
    ///
    /// See [machine-id](https://www.freedesktop.org/software/systemd/man/latest/machine-id.html).
    static var current: Machine {
        Machine(id: machineID ?? HostID(HostName.current) ?? .localhost) { HostName.current }
    }

    private static var machineID: HostID? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let file = try? File(path, O_RDONLY), let bytes = try? file.read(128, at: 0),
                let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
                let id = HostID(line)
            {
                return id
            }
        }
        return nil
    }
}
