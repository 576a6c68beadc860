import CDBus

/// The machine that the process runs on.
enum Machine {
    /// What D-Bus calls the machine's identifier: 32 hexadecimal digits.
    static func identifier() throws(DBusError) -> String {
        guard let text = try checkError({ dbus_try_get_local_machine_id($0) }) else {
            throw .noMemory
        }
        defer { dbus_free(text) }
        return String(cString: text)
    }
}
