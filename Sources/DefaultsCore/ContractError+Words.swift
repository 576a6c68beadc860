import DefaultsFiles
package import DefaultsModel
package import DefaultsProtocol
package import DefaultsStorage
import DefaultsTerms
package import KeyedArchive
import Wording

/// The messages of this module's own refusals.
extension ContractError {
    package init(noKey key: Key, in domain: Domain, on hosts: HostNames) {
        self.init(
            .notFound,
            "The domain \(domain.spelling(on: hosts)) has no key \(key.name.quotedForMessage).")
    }

    init(renaming old: Key, to new: Key, in domain: Domain, on hosts: HostNames) {
        self.init(
            .conflict,
            "The key \(old.name.quotedForMessage) cannot be renamed: the domain "
                + "\(domain.spelling(on: hosts)) already has a key \(new.name.quotedForMessage). "
                + "Remove that key first.")
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
                        ?? "it is unknown what has changed since then")
            case .unchanged(let key, let since):
                "The key \(key.name.quotedForMessage) of \(place) was expected not to change after "
                    + "generation \(since.map { "\($0)" } ?? "0"), and "
                    + (conflict.actual.flatMap { $0 > since ?? .first ? actual : nil }
                        ?? "it is unknown what has changed since then")
            }
        self.init(.conflict, sentence + ".", .readAgain)
    }

    /// For one of several values, with its key.
    init(_ refusal: ContractError, of key: Key) {
        self.init(refusal.code, "For the key \(key.name.quotedForMessage): \(refusal.message)")
    }

    /// For a change that is made but not on disk yet.
    init(notDurable generation: Generation, _ cause: StorageError) {
        self.init(
            .notDurable,
            "The change is made, at generation \(generation), but it is not on disk yet. \(cause)")
    }

    /// For changes that are made but not on disk yet.
    init(notDurable cause: StorageError) {
        self.init(.notDurable, "Some changes are made, but they are not on disk yet. \(cause)")
    }

    /// For a change by a program in a sandbox, of a domain that is neither its own nor granted to it.
    init(confined application: String?, changing domain: Domain, on hosts: HostNames) {
        let place = domain.spelling(on: hosts)
        guard let application else {
            self.init(
                .accessDenied,
                "A program in a sandbox without a known application may not change the domain "
                    + "\(place). To allow it to all of these, run 'defaultsctl grant \"*\" write "
                    + "\(domain.name)'.", .nothingChanged)
            return
        }
        self.init(
            .accessDenied,
            "\(application) is in a sandbox and may not change the domain \(place). To allow it, run "
                + "'defaultsctl grant \(application) write \(domain.name)'.", .nothingChanged)
    }

    /// For a change that would exceed a bound.
    init(_ quota: QuotaUse, in places: LayerPlaces) {
        let limit = quota.limit
        let fact =
            switch quota.bound {
            case .domainKeys: "The domain \(quota.name) may have at most \(counted(limit, "key"))"
            case .domainBytes: "The domain \(quota.name) may have at most \(counted(limit, "byte"))"
            case .keys:
                "The domains of \(quota.name) may have at most \(counted(limit, "key")) together"
            case .bytes:
                "The domains of \(quota.name) may have at most \(counted(limit, "byte")) together"
            case .domains: "\(quota.name) may have at most \(counted(limit, "domain"))"
            case .allDomains:
                "All programs together may have at most \(counted(limit, "domain"))"
            case .bytesPerMinute: "A program may set at most \(counted(limit, "byte")) a minute"
            case .freeDisk:
                "The disk has too little space left for the domain \(quota.name): while less than "
                    + "\(counted(limit, "byte", verb: "is", "are")) free after what is pending, only domains up to "
                    + "\(QuotaTerms.smallDomain >> 20) MiB may grow"
            }
        let advice =
            quota.bound == .freeDisk
            ? "Make room on the disk, or remove values."
            : "Remove some, or have the administrator allow more in "
                + "\(places.managed)/\(QuotaTerms.domain).json."
        self.init(
            .limitsExceeded, "\(fact) (\(quota.bound.rawValue)). \(advice)", .nothingChanged)
    }

    /// For a program that sets too much at once.
    init(_ quota: QuotaUse, waiting wait: Duration) {
        let seconds = max(1, Int((wait / .seconds(1)).rounded(.up)))
        self.init(
            .limitsExceeded,
            "A program may set at most \(counted(quota.limit, "byte")) a minute (\(quota.bound.rawValue)). Call "
                + "again in \(seconds) s.", .nothingChanged)
    }

    init(noBackup name: String) {
        self.init(
            .notFound,
            "There is no backup \(name.quotedForMessage). Run 'defaultsctl backup list' to list all "
                + "backups.")
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
            "\(path) is the database itself, not a backup. Run 'defaultsctl backup now' to make a backup."
        )
    }

    init(damagedBackup name: String, because cause: StorageError) {
        self.init(
            .storageFailed,
            "The backup \(name) is damaged, and nothing of it was restored. \(cause)")
    }

    init(damageIn backup: String, _ cause: StorageError) {
        self.init(.storageFailed, "The backup \(backup) is damaged. \(cause)")
    }

    package init(tooLargeNames count: Int, _ size: Int, room: Int) {
        self.init(
            .tooLarge,
            "The \(count) names have \(size) bytes, but the reply has room for only \(room >> 20) MiB of "
                + "them. Use fewer or shorter names, or more domains.")
    }

    static let tooManyRestored = ContractError(
        .tooLarge,
        "The names of the keys that would change do not fit into a reply, which is at most "
            + "\(ContractLimits.maximumReplySize >> 20) MiB. Restore fewer domains at a time.")

    init(notBackedUp damage: StoreDamage) {
        self.init(
            .storageFailed,
            "No backup was made, because the database is damaged. Existing backups were kept. "
                + "\(damage)")
    }

    init(notRestored name: String, _ report: RestorationReport, because cause: any Error) {
        let reason = (cause as? ContractError)?.message ?? "\(cause)"
        self.init(
            .storageFailed,
            "The backup \(name) was only partly restored (\(report)): \(reason)")
    }

    /// The answer to requests for backups and restorations that are not done when the service ends.
    static let isEnding = ContractError(
        .storageFailed, "The daemon is ending, and the request was not carried out. Repeat it.")

    init(lockedLayer domain: Domain, in places: LayerPlaces, _ keys: [LockedKeys]) {
        let owner =
            domain.layer == .managed
            ? "the administrator, in \(places.managed)"
            : "the administrator and the vendors, in \(places.recommended) and \(places.vendor)"
        self.init(
            .locked,
            "\(domain) is read only: the layer \(domain.layer.name.rawValue) is made from files of "
                + "\(owner). Write to \(domain.name).", locked: keys)
    }

    init(
        locked key: Key, of domain: Domain, by lock: Locks.Source,
        _ keys: [LockedKeys], on hosts: HostNames
    ) {
        let scope = lock.domain.name == domain.name ? "" : " for all applications"
        self.init(
            .locked,
            "The key \(key.name.quotedForMessage) of \(domain.spelling(on: hosts)) is locked\(scope) "
                + "by the administrator, in \(lock.path).", .nothingChanged, locked: keys)
    }
}

/// The table from the errors of other modules to those of the contract.
extension ContractError {
    /// The error of the contract for another one.
    package init(_ error: ModelError) {
        let code: Code =
            switch error.code {
            case .invalidDomain: .invalidDomain
            case .invalidKey: .invalidKey
            default: .invalidArguments
            }
        self.init(code, error.description)
    }

    /// The error of the contract for another one.
    package init(_ error: ArchiveError) {
        self.init(.invalidArchive, error.description)
    }

    /// The error of the contract for another one.
    package init(_ error: StorageError) {
        let isTooLarge = error.code == .keyNamesTooLarge || error.code == .changeTooLarge
        self.init(isTooLarge ? .tooLarge : .storageFailed, error.description)
    }
}
