import DBus

extension Connection {
    /// Whether somebody on the bus has the name.
    func hasOwner(of name: BusName) async throws -> Bool {
        try await call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", replying: "b"
        ) {
            try $0.writeString(name.string)
        } read: {
            try $0.readBool()
        }
    }
}
