import DefaultsTerms
package import KeyedArchive

/// The words of the refusals that reading the arguments of a call may end in.
extension DefaultsError {
    /// Refuses an archive that is larger than a value may be.
    package static func checkSize(of archive: KeyedArchive) throws(DefaultsError) {
        let size = archive.bytes.count
        guard size <= ContractLimits.maximumValueSize else {
            throw DefaultsError(tooLargeArchive: size)
        }
    }

    init(tooLargeArchive size: Int) {
        self.init(
            .tooLarge,
            "The archive is \(size) bytes, and a value is at most \(ContractLimits.maximumValueSize). "
                + "Store large data in a file, and its name here.")
    }

    static let tooManyKeys = DefaultsError(
        .tooLarge,
        "One call names at most \(ContractLimits.maximumTransactionKeys) keys, set, removed and expected "
            + "together. Split it, or use more domains.")

    static let tooManyDomains = DefaultsError(
        .tooLarge,
        "One call names at most \(ContractLimits.maximumAttachedDomains) domains. Attach the rest by another."
    )

    init(optionTwice name: String) {
        self.init(.invalidArguments, "The option \(name.quotedForMessage) stands there twice.")
    }

    init(option name: String, isNot type: String) {
        self.init(
            .invalidArguments, "The option \(name.quotedForMessage) must be \(type).")
    }

    init(unknownOption name: String) {
        self.init(
            .invalidArguments,
            "There is no option \(name.quotedForMessage). There are 'durable' and 'token'.")
    }
}
