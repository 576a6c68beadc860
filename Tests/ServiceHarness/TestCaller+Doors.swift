import DBus

/// Calls of a door.
extension TestCaller {
    /// Makes a call of any interface.
    ///
    /// - Throws: `DBusError` if the service refuses, or ``Unanswered``.
    func request(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
        _ arguments: [Value] = []
    ) async throws -> [Value] {
        let pending = Pending<[Value]>(member.string)
        try await stage.loop.run { [connection] in
            connection.assumeIsolated {
                $0.call(
                    nil, path, interface, member, timeout: nil,
                    write: { try $0.writeValues(arguments) }, read: { try $0.readValues() },
                    completion: { pending.end(with: $0) })
            }
        }
        await stage.settle()
        return try pending.get()
    }
}
