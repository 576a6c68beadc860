import CDBus

/// The machine that the process runs on.
enum Machine {
    /// D-Bus's identifier of the machine: 32 hexadecimal digits.
    static func identifier() throws(DBusError) -> String {
        guard let text = try checkError({ dbus_try_get_local_machine_id($0) }) else {
            throw .noMemory
        }
        defer { dbus_free(text) }
        return String(cString: text)
    }
}
