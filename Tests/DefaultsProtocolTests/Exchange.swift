import DBus
import DefaultsProtocol
import Synchronization
import TestSupport

/// Carries calls of the contract over a real bus, from one end of their declarations to the other.
final class Exchange: Sendable {
    private let bus: PrivateBus
    private let loop: EventLoop

    init() throws {
        bus = try PrivateBus()
        loop = try EventLoop.startThread(named: "exchange")
    }

    deinit {
        loop.stop()
    }

    /// Makes a call, and gives what the service reads of it and what the caller reads of the reply.
    ///
    /// - Parameters:
    ///   - read: Reads the arguments, as the service does.
    ///   - write: Writes the reply, as the service does.
    func carry<C: Call, Read: Sendable>(
        _ call: C.Type, _ arguments: C.Arguments,
        read: @escaping @Sendable (inout MessageReader) throws -> Read,
        write: @escaping @Sendable (inout MessageWriter) throws -> Void
    ) async throws -> (Read, C.Reply) {
        let arrived = Mutex<Read?>(nil)
        let method = Method(C.method.name, in: C.method.input, out: C.method.output) { call in
            let read = try call.arguments(read)
            arrived.withLock { $0 = read }
            try call.reply(write)
        }
        let reply = try await self.call(
            call, arguments, of: Interface(C.method.interface, methods: [method]))
        guard let read = arrived.withLock({ $0 }) else { throw DBusError.notArrived }
        return (read, reply)
    }

    /// Makes a call to the object of the contract, which has one interface.
    func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, of interface: Interface
    ) async throws -> C.Reply {
        let connection = try await Connection.open(.address(bus.address), on: loop)
        await connection.export([interface], at: Contract.objectPath)
        guard let name = connection.uniqueName else { throw DBusError.notArrived }
        do {
            let reply = try await connection.call(call, arguments, of: name)
            await connection.close()
            return reply
        } catch {
            await connection.close()
            throw error
        }
    }
}

extension DBusError {
    fileprivate static let notArrived = DBusError(.failed, "The call did not arrive.")
}
