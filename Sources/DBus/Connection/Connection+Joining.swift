/// The way to a bus that nobody is to wait for.
extension Connection {
    /// Connects to a bus and greets it, while the loop goes on with other work however long the bus
    /// takes to answer.
    ///
    /// Where ``open(_:on:)`` waits for a bus, this waits only for its word: a bus that takes no
    /// connection now counts as none.
    ///
    /// - Parameters:
    ///   - address: The address of the bus, such as ``Address/systemBus``. Of its places only Unix
    ///     sockets count.
    ///   - loop: The loop, which runs.
    /// - Throws: ``DBusError``, of the name `IOError` where there is no bus, or none that takes a
    ///   connection now; of the name `Disconnected` where it ends before it has answered.
    public static func joining(
        busAt address: String, on loop: EventLoop
    ) async throws -> Connection {
        let connection = try await withCheckedThrowingContinuation { continuation in
            loop.perform {
                continuation.resume(
                    with: Result {
                        try Connection(Link(joining: address, on: loop), uniqueName: nil)
                    })
            }
        }
        try await connection.greetBus()
        return connection
    }

    private func greetBus() async throws {
        try await call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", timeout: nil
        ) { reader in
            self.take(uniqueName: try BusName(try reader.readString()))
        }
    }
}
