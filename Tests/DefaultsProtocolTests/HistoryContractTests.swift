import DBus
import DefaultsProtocol
import DefaultsTerms
import TestTiers
import Testing

/// The calls of the history, and who is behind a change, from one end to the other.
@Suite(.startsPrograms, .serialized) struct HistoryContractTests {
    let exchange: Exchange

    init() throws { exchange = try Exchange() }

    @Test func `A filter and the actions that it lets through arrive`() async throws {
        var filter = HistoryFilter()
        (filter.domain, filter.key, filter.program) = ("d@host", "k", "panel")
        (filter.since, filter.until, filter.before, filter.limit) = (-1, 9, 7, 3)
        for sent in [filter, HistoryFilter()] {
            let (read, reply) = try await exchange.carry(Contract.ListActions.self, sent) {
                try Contract.ListActions.readArguments(from: &$0)
            } write: {
                try Contract.ListActions.writeReply([Self.action], knownFrom: 5, to: &$0)
            }
            #expect(read == sent)
            #expect(reply.actions == [Self.action] && reply.knownFrom == 5)
        }
    }

    @Test func `An action arrives with what its keys had and have`() async throws {
        let change = HistoryChangeForm(
            domain: "d", key: "k", first: 3, last: 4, was: HistoryValueForm(nil),
            became: HistoryValueForm([1, 2]), standing: "holds")
        let sent: Contract.GetAction.Reply = (Self.action, [change])
        let (read, reply) = try await exchange.carry(Contract.GetAction.self, 12) {
            try Contract.GetAction.readArguments(from: &$0)
        } write: {
            try Contract.GetAction.writeReply(sent, to: &$0)
        }
        #expect(read == 12)
        #expect(reply.action == Self.action && reply.changes == [change])
    }

    @Test func `Values of an earlier time arrive with what is known`() async throws {
        let sent: Contract.GetAt.Reply = (
            8, 100, false, [("a", .unknown), ("b", HistoryValueForm([7])), ("c", .omitted)]
        )
        let (read, reply) = try await exchange.carry(
            Contract.GetAt.self, ("d", ["a", "b", "c"], 0, 120)
        ) {
            try Contract.GetAt.readArguments(from: &$0, by: PlainNames())
        } write: {
            try Contract.GetAt.writeReply(sent, to: &$0)
        }
        #expect(read.domain == "d" && read.keys == ["a", "b", "c"])
        #expect(read.generation == 0 && read.time == 120)
        #expect(reply.generation == 8 && reply.time == 100 && !reply.isComplete)
        #expect(reply.values.map(\.key) == ["a", "b", "c"])
        #expect(reply.values.map(\.value) == sent.values.map(\.value))
    }

    @Test func `What is to be taken back arrives, with every option`() async throws {
        var sent = TakingBackArguments(actions: [(1, 2), (3, 4)])
        (sent.domain, sent.key) = ("d", "k")
        (sent.isPartial, sent.isForced, sent.isDry, sent.isDurable) = (true, true, true, true)
        let key = TakenBackForm(
            domain: "d", key: "k", now: HistoryValueForm([1]), target: .unknown,
            standing: "unknown")
        let (read, reply) = try await exchange.carry(Contract.Undo.self, sent) {
            try Contract.Undo.readArguments(from: &$0)
        } write: {
            try Contract.Undo.writeReply((5, [key]), to: &$0)
        }
        #expect(read == sent)
        #expect(reply.generation == 5 && reply.changes == [key])
    }

    @Test func `More actions than the service takes back at once are too many`() async throws {
        let sent = TakingBackArguments(
            actions: (0...TakingBackArguments.mostActions).map { (UInt64($0), 1) })
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Redo.self, sent) {
                try Contract.Redo.readArguments(from: &$0)
            } write: { _ in
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        ChangeSponsor(kind: .document, owner: "dotfiles"),
        ChangeSponsor(kind: .roam, machine: "laptop"),
    ])
    func `A change arrives with who is behind it`(sponsor: ChangeSponsor) async throws {
        let sent = Contract.Apply.Arguments(
            domain: "d", set: [], removed: ["k"], options: .init(sponsor: sponsor))
        let (read, _) = try await exchange.carry(Contract.Apply.self, sent) {
            try Contract.Apply.readArguments(from: &$0, by: PlainNames()).options.sponsor
        } write: {
            try Contract.Apply.writeReply(1, to: &$0)
        }
        #expect(read == sponsor)
    }

    @Test func `Only a program itself is behind a change of another kind`() async throws {
        let sent = Contract.Apply.Arguments(
            domain: "d", set: [], removed: ["k"],
            options: .init(sponsor: ChangeSponsor(kind: .restore)))
        let error = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Apply.self, sent) {
                try Contract.Apply.readArguments(from: &$0, by: PlainNames()).options.sponsor
            } write: { _ in
            }
        }
        #expect(error?.code == .invalidArguments)
    }

    private static let action = HistoryActionForm(
        number: 12, first: 3, last: 4, began: 1_700_000_000, ended: 1_700_000_001,
        program: "panel", application: "", machine: "laptop", owner: "dotfiles", kind: "undo",
        references: [10, 11], keys: 2, known: 1, isUndone: true, isByHand: false,
        note: "The backup of Monday has the rest.")
}
