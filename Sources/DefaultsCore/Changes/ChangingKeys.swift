package import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
package import KeyedArchive

/// Changes of one key or of a whole domain.
///
/// All of them refuse locked keys. What sets a value changes nothing if the key has the same one
/// (``replacement(for:in:by:keepsType:)``); what moves a value takes it as it is stored.
extension Settings {
    /// Up to this many keys, the removal of a domain names each of them in the record of changes.
    private static let longestNamedRemoval = 1024

    /// Gives a key a value.
    ///
    /// - Throws: The errors of ``change(_:by:_:then:)``, and `Locked`.
    package func set(
        _ domain: Domain, _ key: Key, to archive: KeyedArchive, by caller: Caller,
        then reply: @escaping (Outcome) -> Void
    ) throws {
        try locks.checkWritable(domain, [key])
        guard let archive = try replacement(for: key, in: domain, by: archive) else {
            return confirm(store.generation, then: reply)
        }
        let proposal = ChangeProposal(
            domain: domain, set: [.init(key: key, archive: archive.bytes)],
            origin: caller.origin)
        try change([proposal], by: caller, then: reply)
    }

    /// Removes a key.
    ///
    /// - Throws: The errors of ``set(_:_:to:by:then:)``.
    package func remove(
        _ key: Key, of domain: Domain, by caller: Caller, then reply: @escaping (Outcome) -> Void
    ) throws {
        try locks.checkWritable(domain, [key])
        guard try store.database.generation(domain, key) != nil else {
            return confirm(store.generation, then: reply)
        }
        let proposal = ChangeProposal(domain: domain, removed: [key], origin: caller.origin)
        try change([proposal], by: caller, then: reply)
    }

    /// Gives the value of a key to another key, which must have none.
    ///
    /// - Throws: The errors of ``set(_:_:to:by:then:)``, `NotFound`, and `Conflict`.
    package func rename(
        _ old: Key, to new: Key, of domain: Domain, by caller: Caller,
        then reply: @escaping (Outcome) -> Void
    ) throws {
        try locks.checkWritable(domain, [old, new])
        guard let stored = try store.database.value(domain, old) else {
            throw ContractError(noKey: old, in: domain, on: store.hosts)
        }
        guard try store.database.generation(domain, new) == nil else {
            throw ContractError(renaming: old, to: new, in: domain, on: store.hosts)
        }
        let proposal = ChangeProposal(
            domain: domain, set: [.init(key: new, archive: stored.archive)], removed: [old],
            origin: caller.origin)
        try change([proposal], by: caller, then: reply)
    }

    /// Removes all keys of a domain.
    ///
    /// - Throws: The errors of ``set(_:_:to:by:then:)``.
    package func removeDomain(
        _ domain: Domain, by caller: Caller, then reply: @escaping (Outcome) -> Void
    ) throws {
        try locks.checkWritable(domain, store.database.keys(of: domain))
        guard let removal = try removal(of: domain, by: caller.origin) else {
            return confirm(store.generation, then: reply)
        }
        try change([removal], by: caller, then: reply)
    }

    /// The change that removes all keys of a domain; nil if it has none.
    func removal(of domain: Domain, by origin: String) throws -> ChangeProposal? {
        guard try store.database.totals(of: domain).keys <= Self.longestNamedRemoval else {
            return ChangeProposal(clearing: domain, origin: origin)
        }
        let keys = try store.database.keysCheckedAgainstCount(of: domain)
        return keys.isEmpty
            ? nil : ChangeProposal(domain: domain, removed: keys, origin: origin)
    }
}
