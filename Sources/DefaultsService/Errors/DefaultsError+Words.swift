import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms

/// The words of every refusal that is this module's own.
extension DefaultsError {
    init(noKey key: Key, in domain: Domain, on hosts: HostNames) {
        self.init(
            .notFound,
            "The domain \(domain.spelling(on: hosts)) has no key \(key.name.quotedForMessage).")
    }

    init(renaming old: Key, to new: Key, in domain: Domain, on hosts: HostNames) {
        self.init(
            .conflict,
            "The key \(old.name.quotedForMessage) cannot be renamed: the domain "
                + "\(domain.spelling(on: hosts)) has a key \(new.name.quotedForMessage) already. "
                + "Remove that one first.")
    }

    init(_ conflict: Conflict, in domain: Domain, on hosts: HostNames) {
        let place = domain.spelling(on: hosts)
        let actual = conflict.actual.map { "was last changed at generation \($0)" }
        let sentence =
            switch conflict.expectation {
            case .key(let key, nil):
                "The key \(key.name.quotedForMessage) of \(place) was expected to be absent, and "
                    + (actual ?? "is")
            case .key(let key, let expected?):
                "The key \(key.name.quotedForMessage) of \(place) was expected at generation "
                    + "\(expected), and " + (actual ?? "is absent")
            case .wholeDomain(nil):
                "The domain \(place) was expected to have no keys, and has some"
            case .wholeDomain(let expected?):
                "The domain \(place) was expected not to change after generation \(expected), and "
                    + (conflict.actual.flatMap { $0 > expected ? actual : nil }
                        ?? "what came after that one is not known")
            }
        self.init(.conflict, sentence + ".", .readAgain)
    }

    init(tooLargeNames count: Int, _ size: Int, room: Int) {
        self.init(
            .tooLarge,
            "The \(count) names are \(size) bytes, and the reply has room for \(room >> 20) MiB of "
                + "them. Use fewer or shorter names, or more domains.")
    }

    /// A domain that does not fit into one reply.
    init(tooLargeDomain domain: Domain, on hosts: HostNames) {
        self.init(
            .tooLarge,
            "All of \(domain.spelling(on: hosts)) would be larger than a reply, which is at most "
                + "\(ContractLimits.maximumReplySize >> 20) MiB. Call GetChanges with since 0, which names "
                + "the large entries, and Get for those.")
    }

    /// A refusal of one of several values, with the key that it was for.
    init(_ refusal: DefaultsError, of key: Key) {
        self.init(refusal.code, "For the key \(key.name.quotedForMessage): \(refusal.message)")
    }

    /// A change that is made, though the disk has not taken it.
    init(notDurable generation: Generation, _ cause: StorageError) {
        self.init(
            .notDurable,
            "The change is made, at generation \(generation), but it is not on disk yet. \(cause)")
    }

    /// Changes that are made, though the disk has not taken them.
    init(notDurable cause: StorageError) {
        self.init(.notDurable, "Some changes are made, but they are not on disk yet. \(cause)")
    }

    init(tooLargeDomains count: Int) {
        self.init(
            .tooLarge,
            "What is to be told of the \(count) domains is larger than a reply, which is at most "
                + "\(ContractLimits.maximumReplySize >> 20) MiB. Attach fewer at a time.")
    }

    static let otherUser = DefaultsError(
        .accessDenied,
        "This service answers programs of its own user only, and the caller belongs to another user "
            + "or to none. Call the service on that user's own bus.")

    init(confined method: String) {
        self.init(
            .accessDenied,
            "\(method) is not for programs in a sandbox. Call Get and GetAll, and follow the signal "
                + "Changed.")
    }

    static let noNameToHandOver = DefaultsError(
        .invalidArguments, "Without a bus there is no name to hand over. Close the connection.")

    /// A caller of HandOver that would not get the name.
    init(notNext caller: BusName, waiting: [String]) {
        let next = waiting.first.map { "\($0) waits for it" } ?? "nobody waits for it"
        self.init(
            .conflict,
            "The name \(Contract.busName) would not go to the caller, \(caller): \(next). Request the "
                + "name, and ask again when you are the first in its queue.")
    }

    init(noBackup name: String) {
        self.init(
            .notFound,
            "There is no backup \(name.quotedForMessage). 'defaultsctl backup list' lists those that "
                + "there are.")
    }

    init(noDomainToRestore domain: String, from backup: String) {
        self.init(
            .notFound,
            "Neither the backup \(backup) nor the database has the domain \(domain.quotedForMessage).",
            .nothingChanged)
    }

    init(restoringItself path: String) {
        self.init(
            .invalidArguments,
            "\(path) is the database itself, and not a backup. 'defaultsctl backup now' makes one.")
    }

    init(damagedBackup name: String, because cause: StorageError) {
        self.init(
            .storageFailed,
            "The backup \(name) is damaged, and nothing of it was restored. \(cause)")
    }

    init(damageIn backup: String, _ cause: StorageError) {
        self.init(.storageFailed, "The backup \(backup) is damaged. \(cause)")
    }

    init(relativeBackup path: String) {
        self.init(
            .invalidArguments,
            "The path \(path.quotedForMessage) is relative, and this daemon has another working "
                + "directory. Give the whole path of the backup.")
    }

    static let backupTwice = DefaultsError(
        .invalidArguments, "A backup is given by name and by path. Give one of them.")

    static let tooManyRestored = DefaultsError(
        .tooLarge,
        "The names of what would change are larger than a reply, which is at most "
            + "\(ContractLimits.maximumReplySize >> 20) MiB. Name some of the domains.")

    init(notBackedUp damage: StoreDamage) {
        self.init(
            .storageFailed,
            "No backup was made, because the database is damaged; those that there are were kept. "
                + "\(damage)")
    }

    init(notRestored name: String, _ report: RestorationReport, because cause: any Error) {
        let reason = (cause as? any ErrorReply)?.errorMessage ?? "\(cause)"
        self.init(
            .storageFailed,
            "The backup \(name) was not restored as a whole (\(report)): \(reason)")
    }

    /// What waits for a backup or a restoration is told when the service ends.
    static let isEnding = DefaultsError(
        .storageFailed, "The daemon ends, and what was not done by then was given up. Ask again.")

    init(noLayerHas key: Key, for domain: Domain) {
        self.init(
            .notFound,
            "No layer has a key \(key.name.quotedForMessage) for \(domain.name).")
    }

    init(lockedLayer domain: Domain, in places: LayerPlaces) {
        let owner =
            domain.layer == .managed
            ? "the administrator, in \(places.managed)"
            : "the administrator and the vendors, in \(places.recommended) and \(places.vendor)"
        self.init(
            .locked,
            "\(domain) is read only: the layer \(domain.layer.name.rawValue) is made of the files of "
                + "\(owner). Write to \(domain.name).")
    }

    init(
        locked key: Key, of domain: Domain, by lock: DefaultsObject.LockSource, on hosts: HostNames
    ) {
        let scope = lock.domain.name == domain.name ? "" : " for all applications"
        self.init(
            .locked,
            "The key \(key.name.quotedForMessage) of \(domain.spelling(on: hosts)) is locked\(scope) "
                + "by the administrator, in \(lock.path).", .nothingChanged)
    }
}
