import CDBus

extension Connection {
    /// The version of the libdbus library that this process uses.
    package static var libraryVersion: String {
        var (major, minor, micro): (Int32, Int32, Int32) = (0, 0, 0)
        dbus_get_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }
}
