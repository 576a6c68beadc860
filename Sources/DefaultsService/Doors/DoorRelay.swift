import DBus
import DefaultsCore
import DefaultsProtocol

// Invariants
//
// 1. Nothing is stored here: every call is carried out by the daemon that has the database, and has its
//    answer.
// 2. The calls of a connection are handed over in their order.
// 3. A program in a sandbox is refused: the other daemon sees this process as the caller.

/// The services of desktops on the bus of a second session, whose database the daemon of another session has.
///
/// A bus starts a program for the name of such a service, and only one daemon can have the database. So the
/// program hands all calls over, and passes the signals on.
actor DoorRelay {
    private nonisolated let connection: Connection
    private nonisolated let other: Connection
    private var tasks: [Task<Void, Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        connection.loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - connection: The bus of this session.
    ///   - other: The bus on which the daemon is that has the database.
    init(on connection: Connection, to other: Connection) {
        self.connection = connection
        self.other = other
    }

    /// Serves these doors, except for their names.
    ///
    /// - Throws: `DBusError` if the other bus has gone.
    func begin(_ doors: [any Door.Type]) async throws {
        for door in doors {
            for (path, interface) in interfaces(of: door) {
                await connection.export([interface], at: path)
            }
            let (address, loop) = (door.signals, connection.loop)
            let signals = try await other.signals(
                MatchRule(
                    sender: door.busName, path: address.path, interface: address.interface),
                limit: 4096)
            tasks.append(
                Task(executorPreference: loop) { [connection] in
                    for await element in signals {
                        guard case .signal(let signal) = element,
                            address.members.contains(signal.member)
                        else { continue }
                        try? await connection.emit(signal.path, signal.interface, signal.member) {
                            try $0.writeValues(signal.arguments)
                        }
                    }
                })
        }
    }

    private func interfaces(
        of door: any Door.Type
    ) -> [(path: ObjectPath, interface: Interface)] {
        let service = door.busName
        return door.interfaces { declared in
            let types = Signature(stringLiteral: declared.output.map(\.type.string).joined())
            return Method(declared.name, in: declared.input, out: declared.output) { call in
                try self.assumeIsolated {
                    try $0.handOver(call, to: service, replying: types)
                }
            }
        }
    }

    private func handOver(
        _ call: MethodCall, to service: BusName, replying types: Signature
    ) throws {
        guard case .full = CallerAccess(of: call.credentials, isBusPrivate: true) else {
            throw ContractError(confined: call.member.string)
        }
        let arguments = try call.arguments { try $0.readValues() }
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
        other.assumeIsolated { other in
            other.call(
                service, call.path, call.interface, call.member, timeout: nil, replying: types,
                write: { try $0.writeValues(arguments) }, read: { try $0.readValues() },
                completion: { result in
                    do {
                        let values = try result.get()
                        try call.reply { try $0.writeValues(values) }
                    } catch {
                        call.fail(error)
                    }
                })
        }
    }
}
