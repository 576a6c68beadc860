import CDBus
import Glibc
import SystemCalls

/// One of the places that an address names, of which the first is used that takes a connection.
struct Place {
    /// The part of the address.
    let text: String
    /// The Unix socket; nil for another kind of place, and for a name that is too long.
    let socket: UnixSocketAddress?
    /// The identifier that the server must have; nil for any server.
    let server: String?
}

extension Address {
    /// The places to try, in this order.
    ///
    /// - Throws: ``DBusError``; with the name `InvalidArgs` if no place may be used, or `BadAddress`
    ///   if it is not an address.
    func places() throws(DBusError) -> [Place] {
        let text = text
        let places = try Place.places(of: text).filter { $0.socket != nil || !isSocket }
        guard !places.isEmpty else { throw .noUnixSocket(in: text) }
        return places
    }
}

extension Place {
    fileprivate static func places(of address: String) throws(DBusError) -> [Place] {
        // libdbus would read up to the NUL, and connect to another address than the given one.
        guard !address.utf8.contains(0) else { throw .nulInString }
        var entries: UnsafeMutablePointer<OpaquePointer?>?
        var count: Int32 = 0
        _ = try checkError { dbus_parse_address(address, &entries, &count, $0) }
        guard let entries else { throw .noMemory }
        defer { dbus_address_entries_free(entries) }
        let parts = address.split(separator: ";")
        return zip(parts, UnsafeBufferPointer(start: entries, count: Int(count))).map {
            Place(
                text: String($0), socket: UnixSocketAddress($1), server: Self.value("guid", of: $1))
        }
    }

    fileprivate static func value(_ name: String, of entry: OpaquePointer?) -> String? {
        dbus_address_entry_get_value(entry, name).map { String(cString: $0) }
    }
}

extension UnixSocketAddress {
    /// The place of an entry of an address of D-Bus; nil for other kinds of addresses, and for names
    /// that are too long.
    fileprivate init?(_ entry: OpaquePointer?) {
        guard let method = dbus_address_entry_get_method(entry), strcmp(method, "unix") == 0
        else { return nil }
        switch (Place.value("path", of: entry), Place.value("abstract", of: entry)) {
        case (let path?, nil): self.init(path: path)
        case (nil, let name?): self.init(abstract: name)
        default: return nil
        }
    }
}
