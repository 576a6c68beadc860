import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsTerms
import Wording

/// The messages of the refusals that depend on the bus and on the size of replies.
extension ContractError {
    /// For a domain that does not fit into one reply.
    init(tooLargeDomain domain: Domain, on hosts: HostNames) {
        self.init(
            .tooLarge,
            "All of \(domain.spelling(on: hosts)) would be larger than a reply, which is at most "
                + "\(ContractLimits.maximumReplySize >> 20) MiB. Call GetChanges with since 0: it lists "
                + "the keys of large entries. Call Get for each of these.")
    }

    init(tooLargeDomains count: Int) {
        self.init(
            .tooLarge,
            "The contents of \(counted(count, "domain")) are larger than a reply, which is at most "
                + "\(ContractLimits.maximumReplySize >> 20) MiB. Attach fewer at a time.")
    }

    static let otherUser = ContractError(
        .accessDenied,
        "This service only answers programs of its own user, but the caller belongs to another user "
            + "or its user is unknown. Call the service on the bus of the caller's own user.")

    static let onlyOverBus = ContractError(
        .accessDenied,
        "A program in a sandbox may not use the daemon's socket. Call the service over the bus.")

    init(confined method: String) {
        self.init(
            .accessDenied,
            "\(method) is not allowed for programs in a sandbox. Call Get and GetAll, and follow the signal "
                + "Changed.")
    }

    static let noNameToHandOver = ContractError(
        .invalidArguments, "Without a bus there is no name to hand over. Close the connection.")

    /// For a caller of HandOver that would not get the name.
    init(notNext caller: BusName, waiting: [String]) {
        let next = waiting.first.map { "\($0) is next in its queue" } ?? "its queue is empty"
        self.init(
            .conflict,
            "The caller, \(caller), would not get the name \(Contract.busName): \(next). Request the "
                + "name, and call HandOver again when the caller is the first in the queue.")
    }

    init(relativeBackup path: String) {
        self.init(
            .invalidArguments,
            "The path \(path.quotedForMessage) is relative, but the daemon has another working "
                + "directory. Give the absolute path of the backup.")
    }

    static let backupTwice = ContractError(
        .invalidArguments, "A backup is given by both name and path. Give one of them.")

    init(noLayerHas key: Key, for domain: Domain) {
        self.init(
            .notFound,
            "No layer has a key \(key.name.quotedForMessage) for \(domain.name).")
    }
}
