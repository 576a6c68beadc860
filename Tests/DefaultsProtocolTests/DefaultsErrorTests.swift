import DBus
import DefaultsProtocol
import Testing

@Suite struct DefaultsErrorTests {
    @Test(arguments: [
        DefaultsError.Code.notFound, .invalidDomain, .invalidKey, .invalidArchive,
        .notRepresentable, .tooLarge, .locked, .conflict, .storageFailed, .invalidArguments,
    ])
    func `A refusal survives the way over the bus`(code: DefaultsError.Code) {
        let error = DefaultsError(code, "Because.")
        #expect(DefaultsError(DBusError(error.errorName, error.errorMessage)) == error)
    }

    @Test func `An error of the bus is none of the contract's`() {
        #expect(DefaultsError(DBusError(.serviceUnknown, "Nobody is there.")) == nil)
    }
}
