import DBus
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import Synchronization
import TestSupport
import TestTiers
import Testing

/// Changes that say who is behind them, at a service that does not know that.
@Suite(.startsPrograms) struct OlderServiceTests {
    @Test func `A service that does not know who can be behind a change makes it all the same`()
        async throws
    {
        let bus = try PrivateBus()
        let loop = try EventLoop.startThread(named: "older")
        defer { loop.stop() }
        let connection = try await Connection.open(.address(bus.address), on: loop)
        let older = OlderService()
        await connection.export([older.interface], at: Contract.objectPath)
        _ = try await connection.requestName(Contract.busName)
        let caller = try await RemoteDefaults.connect(to: .address(bus.address))
        var transaction = DefaultsTransaction()
        transaction.remove("Key")
        transaction.sponsor = ChangeSponsor(kind: .document, owner: "me")
        #expect(try await caller.apply(transaction, in: "org.example.App") == 7)
        #expect(try await caller.applyAll([("org.example.App", transaction)]) == 8)
        let sponsor = transaction.sponsor
        #expect(older.sponsors == [sponsor, nil, sponsor, nil])
        await caller.close()
        await connection.close()
    }
}

/// The changes of a service as it was before it had a history.
private final class OlderService: Sendable {
    private let noted = Mutex<[ChangeSponsor?]>([])

    /// Who was behind the calls, in their order.
    var sponsors: [ChangeSponsor?] { noted.withLock { $0 } }

    var interface: Interface {
        Interface(
            Contract.interface,
            methods: [
                Method(
                    Contract.Apply.method.name, in: Contract.Apply.method.input,
                    out: Contract.Apply.method.output
                ) { call in
                    try self.refuseSponsor(
                        try call.arguments {
                            try Contract.Apply.readArguments(from: &$0, by: PlainNames())
                        }.options.sponsor)
                    try call.reply { try Contract.Apply.writeReply(7, to: &$0) }
                },
                Method(
                    Contract.ApplyAll.method.name, in: Contract.ApplyAll.method.input,
                    out: Contract.ApplyAll.method.output
                ) { call in
                    try self.refuseSponsor(
                        try call.arguments {
                            try Contract.ApplyAll.readArguments(from: &$0, by: PlainNames())
                        }.options.sponsor)
                    try call.reply { try Contract.ApplyAll.writeReply(8, to: &$0) }
                },
            ])
    }

    private func refuseSponsor(_ sponsor: ChangeSponsor?) throws {
        noted.withLock { $0.append(sponsor) }
        guard sponsor != nil else { return }
        throw ContractError(
            .invalidArguments,
            "There is no option 'by'. The options are 'durable', 'token', 'undo', 'unchanged-since' and "
                + "'list-locked'.")
    }
}
