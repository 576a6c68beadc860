import DBus
import DefaultsProtocol
import Foundation
import SystemCalls

@testable import DBus
@testable import ServiceHarness

/// The bus of a session, as far as the tool asks it: who has which name, and what is started.
///
/// The service has its own name from the beginning. When it is started, it also gets the names that the
/// activation files of the user give it, and loses those that they do not.
actor SessionBus {
    private static let service = ":1.1"
    /// The process of all other programs: a number that Linux gives to none.
    static let otherProcess: UInt32 = 5_000_000

    private let stage: Stage
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        stage.loop.asUnownedSerialExecutor()
    }
    /// The directory of the user's activation files.
    private let directory: String
    private var owners = [Contract.busName.string: service]
    /// What it was asked to do, in order: `ReloadConfig`, or `start` and a name.
    private(set) var requests: [String] = []

    init(startingFrom directory: String, on stage: Stage) {
        self.directory = directory
        self.stage = stage
    }

    /// Gives a name to a program.
    func give(_ name: BusName, to program: String) { owners[name.string] = program }

    /// Connects the tool.
    func connect() throws -> Connection {
        let (ours, theirs) = try UnixSocket.pair()
        let bus = try Connection(serving: ours, on: stage.loop)
        let interface = interface()
        bus.assumeIsolated { $0.export([interface], at: "/org/freedesktop/DBus") }
        stage.add(bus)
        let place = Place(text: "", socket: nil, server: nil)
        let tool = try Connection(
            Link(over: theirs, to: place, isDirect: false, on: stage.loop))
        stage.add(tool)
        return tool
    }

    private func interface() -> Interface {
        let name = [Argument("name", "s")]
        func method(
            _ member: MemberName, _ input: [Argument] = [], _ output: [Argument] = [],
            _ answer: @escaping @Sendable (isolated SessionBus, MethodCall) throws -> Void
        ) -> Method {
            Method(member, in: input, out: output) { call in
                nonisolated(unsafe) let call = call
                try self.assumeIsolated { try answer($0, call) }
            }
        }
        return Interface(
            "org.freedesktop.DBus",
            methods: [
                method("GetNameOwner", name, [Argument("owner", "s")]) { bus, call in
                    let name = try call.arguments { try $0.readString() }
                    guard let owner = bus.owners[name] else {
                        return call.fail(DBusError(.nameHasNoOwner, "\(name) has no owner."))
                    }
                    try call.reply { try $0.writeString(owner) }
                },
                method("GetConnectionUnixProcessID", name, [Argument("id", "u")]) { bus, call in
                    let owner = try call.arguments { try $0.readString() }
                    // That of the service is this process, which the tool must not end.
                    guard owner != Self.service else {
                        return call.fail(DBusError(.nameHasNoOwner, "It is not known."))
                    }
                    try call.reply { try $0.writeUInt32(Self.otherProcess) }
                },
                method("StartServiceByName", name + [Argument("flags", "u")], [Argument("is", "u")])
                { bus, call in
                    let name = try call.arguments {
                        let name = try $0.readString()
                        _ = try $0.readUInt32()
                        return name
                    }
                    bus.start(name)
                    try call.reply { try $0.writeUInt32(1) }
                },
                method("ReloadConfig") { bus, call in
                    bus.requests.append("ReloadConfig")
                    try call.reply()
                },
                method("AddMatch", [Argument("rule", "s")]) { _, call in try call.reply() },
                method("RemoveMatch", [Argument("rule", "s")]) { _, call in try call.reply() },
            ])
    }

    private func start(_ name: String) {
        requests.append("start \(name)")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        owners = owners.filter { $0.value != Self.service }
        for name in [name] + files.map({ String($0.dropLast(".service".count)) }) {
            owners[name] = Self.service
        }
    }
}
