import DBus
import DefaultsDconf
import DefaultsModel
import DefaultsPortal
import DefaultsProtocol
import DefaultsXfconf
import Logging

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

    /// Serves these services, except for their names.
    ///
    /// - Throws: `DBusError` if the other bus has gone.
    func begin(_ desktops: [DesktopService]) async throws {
        for desktop in desktops {
            for (path, interface) in interfaces(of: desktop) {
                await connection.export([interface], at: path)
            }
            let (address, loop) = (desktop.signals, connection.loop)
            let signals = try await other.signals(
                MatchRule(
                    sender: desktop.busName, path: address.path, interface: address.interface),
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

    private func interfaces(of desktop: DesktopService) -> [(ObjectPath, Interface)] {
        func method(_ name: MemberName, _ input: [Argument], _ output: [Argument]) -> Method {
            let types = Signature(stringLiteral: output.map(\.type.string).joined())
            return Method(name, in: input, out: output) { call in
                try self.assumeIsolated {
                    try $0.handOver(call, to: desktop.busName, replying: types)
                }
            }
        }
        switch desktop {
        case .xfconf:
            let methods = [
                Xfconf.setProperty, Xfconf.getProperty, Xfconf.getAllProperties,
                Xfconf.propertyExists, Xfconf.resetProperty, Xfconf.listChannels,
                Xfconf.isPropertyLocked,
            ].map { method($0.name, $0.input, $0.output) }
            return [
                (
                    Xfconf.objectPath,
                    Interface(
                        Xfconf.interface, methods: methods,
                        signals: [Xfconf.propertyChanged, Xfconf.propertyRemoved])
                )
            ]
        case .portal:
            let methods = [Portal.read, Portal.readAll].map {
                method($0.name, $0.input, $0.output)
            }
            let version = Property("version", "u", emitsChanged: .constant) {
                .uint32(Portal.version)
            }
            return [
                (
                    Portal.objectPath,
                    Interface(
                        Portal.interface, methods: methods, signals: [Portal.settingChanged],
                        properties: [version])
                )
            ]
        case .dconf:
            let methods = [
                method(Dconf.initialize, [], []),
                method(Dconf.change, Dconf.changeInput, Dconf.changeOutput),
            ]
            let information = method(Dconf.blame, [], Dconf.blameOutput)
            return [
                (
                    Dconf.writer,
                    Interface(Dconf.interface, methods: methods, signals: [Dconf.notify])
                ),
                (
                    Dconf.information,
                    Interface(Dconf.informationInterface, methods: [information])
                ),
            ]
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
