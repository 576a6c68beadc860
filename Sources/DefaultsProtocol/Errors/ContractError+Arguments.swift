import DefaultsTerms
package import KeyedArchive

/// Messages for errors in the arguments of a call.
extension ContractError {
    /// Refuses an archive above the size limit.
    package static func checkSize(of archive: KeyedArchive) throws(ContractError) {
        let size = archive.bytes.count
        guard size <= ContractLimits.maximumValueSize else {
            throw ContractError(tooLargeArchive: size)
        }
    }

    init(tooLargeArchive size: Int) {
        self.init(
            .tooLarge,
            "The archive has \(size) bytes, but a value has at most \(ContractLimits.maximumValueSize). "
                + "Store large data in a file, and the file's name here.")
    }

    static let tooManyKeys = ContractError(
        .tooLarge,
        "One call takes at most \(ContractLimits.maximumTransactionKeys) keys, set, removed and expected "
            + "together. Split it, or use more domains.")

    static let tooManyKeysToRead = ContractError(
        .tooLarge,
        "One call takes at most \(ContractLimits.maximumTransactionKeys) keys. Split it.")

    package static let tooManyDomains = ContractError(
        .tooLarge,
        "One call takes at most \(ContractLimits.maximumAttachedDomains) domains. Split it."
    )

    /// For a process whose connections together follow too many domains.
    package static let tooManyFollowed = ContractError(
        .limitsExceeded,
        "The connections of a process follow at most \(ContractLimits.maximumFollowedDomains) domains "
            + "together. Call Unfollow, or close some connections.",
        .nothingChanged)

    package init(domainTwice name: String) {
        self.init(
            .invalidArguments, "The domain \(name.quotedForMessage) is given twice. Give it once.")
    }

    init(optionTwice name: String) {
        self.init(
            .invalidArguments, "The option \(name.quotedForMessage) is given twice. Give it once.")
    }

    init(option name: String, isNot type: String) {
        self.init(
            .invalidArguments, "The option \(name.quotedForMessage) must be \(type).")
    }

    /// For an option that a call does not have.
    ///
    /// - Parameters:
    ///   - name: The option.
    ///   - known: The options that the call has.
    init(unknownOption name: String, known: [String]) {
        let listed = known.map { "'\($0)'" }
        let all = "\(listed.dropLast().joined(separator: ", ")) and \(listed.last ?? "")"
        self.init(
            .invalidArguments,
            "There is no option \(name.quotedForMessage). The options are \(all).")
    }

    /// Whether it is the refusal of an option that an older service does not know.
    package func isRefusal(ofOption name: String) -> Bool {
        code == .invalidArguments
            && message.hasPrefix("There is no option \(name.quotedForMessage).")
    }
}
