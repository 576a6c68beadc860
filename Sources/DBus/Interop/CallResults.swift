import CDBus

// How each kind of result of libdbus's functions becomes Swift's.

/// Checks a function that fails only for lack of memory, or of a descriptor to duplicate into.
func checkMemory(_ result: dbus_bool_t) throws(DBusError) {
    guard result != 0 else { throw .noMemory }
}

/// Checks a function that fills in an error of libdbus.
func checkError<Result>(
    _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Result
) throws(DBusError) -> Result {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let result = body(&error)
    guard dbus_error_is_set(&error) == 0 else { throw DBusError(copying: error) }
    return result
}

extension DBusError {
    /// Copies an error of libdbus, which stays the caller's to free.
    fileprivate init(copying error: CDBus.DBusError) {
        let name = error.name.map { ErrorName(checked: String(cString: $0)) }
        // Some end in a line break, as that of a wrong address.
        let message = error.message.map { String(cString: $0).trimmingLineBreaks }
        self.init(name ?? .failed, message ?? "libdbus gave no reason.")
    }
}

extension String {
    fileprivate var trimmingLineBreaks: String {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
