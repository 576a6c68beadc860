import DBus
import RoamingTerms

/// The calls of the service on the bus.
extension RoamService {
    var interface: Interface {
        Interface(
            RoamContract.interface,
            methods: [
                Method(RoamContract.getStatus, out: [Argument("status", "a{sv}")]) { call in
                    try self.assumeIsolated { service in
                        let values = service.status.values
                        try call.reply { try $0.writeValue(values) }
                    }
                },
                Method(RoamContract.roamNow) { call in
                    try self.answer(call) {
                        try await $0.roamNow()
                    } reply: { _, _ in
                    }
                },
                Method(
                    RoamContract.encrypt,
                    in: [Argument("passphrase", "s"), Argument("mayMakeKey", "b")]
                ) { call in
                    let offer = try call.arguments {
                        KeyKeeper.Offer(
                            passphrase: try $0.readString(), mayMakeKey: try $0.readBool())
                    }
                    try self.answer(call) {
                        try await $0.roamNow(with: offer)
                    } reply: { _, _ in
                    }
                },
                Method(RoamContract.changePassphrase, in: [Argument("passphrase", "s")]) { call in
                    let passphrase = try call.arguments { try $0.readString() }
                    try self.answer(call) {
                        try await $0.changePassphrase(to: passphrase)
                    } reply: { _, _ in
                    }
                },
                Method(RoamContract.listMachines, out: [Argument("machines", "a(ssxb)")]) { call in
                    try self.answer(call) {
                        try await $0.betweenRounds { try await $0.machines() }
                    } reply: { machines, writer in
                        try writer.writeArray(of: "(ssxb)") { array in
                            for machine in machines {
                                try array.writeStructure {
                                    try $0.writeString(machine.id.description)
                                    try $0.writeString(machine.name)
                                    try $0.writeInt64((machine.seen ?? 0) / 1_000_000)
                                    try $0.writeBool(machine.isThis)
                                }
                            }
                        }
                    }
                },
                Method(RoamContract.forgetMachine, in: [Argument("id", "s")]) { call in
                    let id = try call.arguments { try $0.readString() }
                    try self.answer(call) {
                        try await $0.betweenRounds { try await $0.forget(id) }
                    } reply: { _, _ in
                    }
                },
            ])
    }

    /// Answers a call when something has ended.
    private nonisolated func answer<Result: Sendable>(
        _ call: sending MethodCall,
        with body: @escaping @Sendable (RoamService) async throws -> Result,
        reply: @escaping @Sendable (Result, inout MessageWriter) throws -> Void
    ) throws {
        let detached = try call.detach()
        Task(executorPreference: loop) {
            do {
                let result = try await body(self)
                try detached.write { try reply(result, &$0) }
                detached.end { call in
                    do { try detached.sendReply() } catch { call.fail(error) }
                }
            } catch {
                let name = error is NoKey ? RoamContract.noKey : RoamContract.failed
                detached.end { $0.fail(DBusError(name, "\(error)")) }
            }
        }
    }
}
