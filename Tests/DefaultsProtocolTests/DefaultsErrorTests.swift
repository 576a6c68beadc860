import DBus
import DefaultsProtocol
import Testing

@Suite struct DefaultsErrorTests {
    @Test(arguments: [
        DefaultsError.Code.notFound, .invalidDomain, .invalidKey, .invalidArchive,
        .notRepresentable, .tooLarge, .locked, .conflict, .storageFailed, .notDurable,
        .invalidArguments,
    ])
    func `A refusal is the same after it has crossed the bus`(code: DefaultsError.Code) {
        let error = DefaultsError(code, "Because.")
        #expect(DefaultsError(DBusError(error.errorName, error.errorMessage)) == error)
    }

    @Test(arguments: DefaultsError.Remark.allCases)
    func `A refusal is distinguished from the remark that nothing was changed`(
        remark: DefaultsError.Remark
    ) {
        let error = DefaultsError(.locked, "The key is locked.", remark)
        let read = DefaultsError(DBusError(error.errorName, error.errorMessage))
        #expect(read?.message == "The key is locked. \(remark.rawValue)")
        #expect(read?.fact == "The key is locked.")
        #expect(DefaultsError(.locked, "The key is locked.").fact == "The key is locked.")
    }

    @Test func `An error of the bus is not one of the contract's`() {
        #expect(DefaultsError(DBusError(.serviceUnknown, "Nobody is there.")) == nil)
    }
}
