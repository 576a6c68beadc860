import DefaultsTerms
package import KeyedArchive

/// The messages of refusals of a call's arguments.
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
            "The archive has \(size) bytes, and the limit for a value is "
                + "\(ContractLimits.maximumValueSize). Store large data in a file, and its name here."
        )
    }

    static let tooManyKeys = DefaultsError(
        .tooLarge,
        "One call can name at most \(ContractLimits.maximumTransactionKeys) keys, counting those that are set, "
            + "removed and expected. Split the call, or use more domains.")

    static let tooManyDomains = DefaultsError(
        .tooLarge,
        "One call can name at most \(ContractLimits.maximumAttachedDomains) domains. Attach the rest with another."
    )

    init(optionTwice name: String) {
        self.init(.invalidArguments, "The option \(name.quotedForMessage) is given twice.")
    }

    init(option name: String, isNot type: String) {
        self.init(
            .invalidArguments, "The option \(name.quotedForMessage) must be \(type).")
    }

    init(unknownOption name: String) {
        self.init(
            .invalidArguments,
            "There is no option \(name.quotedForMessage). The options are 'durable' and 'token'.")
    }
}
