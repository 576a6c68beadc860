import DBus
import DefaultsProtocol
import TestTiers
import Testing

@Suite(.startsPrograms) struct ContractErrorTests {
    @Test(arguments: [
        ContractError.Code.notFound, .invalidDomain, .invalidKey, .invalidArchive,
        .notRepresentable, .tooLarge, .locked, .conflict, .storageFailed, .notDurable,
        .invalidArguments,
    ])
    func `A refusal is the same after it has crossed the bus`(code: ContractError.Code) {
        let error = ContractError(code, "Because.")
        #expect(ContractError(DBusError(error.errorName, error.errorMessage)) == error)
    }

    @Test func `The locked keys cross the bus after the message`() async throws {
        let error = ContractError(
            .locked, "Locked.",
            locked: [
                LockedKeys(domain: "a.b", keys: ["x", "y"]), LockedKeys(domain: "c@host", keys: []),
            ])
        let exchange = try Exchange()
        let carried = await #expect(throws: ContractError.self) {
            try await exchange.carry(Contract.Remove.self, ("a.b", "x")) { _ in
                throw error
            } write: { _ in
            }
        }
        #expect(carried == error)
    }

    @Test(arguments: [
        [], [Value.uint32(1)], [.array(of: "s", [.string("x")])],
        [.array(of: "(sas)", [.structure([.string("a.b")])])],
    ])
    func `An error Locked without a valid list has no locked keys`(details: [Value]) {
        let name = ContractError.Code.locked.errorName
        #expect(
            ContractError(DBusError(name, "Locked.", details: details))
                == ContractError(.locked, "Locked."))
    }

    @Test(arguments: ContractError.Remark.allCases)
    func `A refusal is distinguished from the remark that nothing was changed`(
        remark: ContractError.Remark
    ) {
        let error = ContractError(.locked, "The key is locked.", remark)
        let read = ContractError(DBusError(error.errorName, error.errorMessage))
        #expect(read?.message == "The key is locked. \(remark.rawValue)")
        #expect(read?.fact == "The key is locked.")
        #expect(ContractError(.locked, "The key is locked.").fact == "The key is locked.")
    }

    @Test func `An error of the bus is not one of the contract's`() {
        #expect(ContractError(DBusError(.serviceUnknown, "Nobody is there.")) == nil)
    }
}
