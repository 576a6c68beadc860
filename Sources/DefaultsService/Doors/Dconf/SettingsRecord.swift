import DefaultsCore
import DefaultsDconf
import DefaultsModel
import DefaultsStorage
import KeyedArchive

// Invariants
//
// 1. The record has every domain that a program has changed by GSettings or by dconf's interface, and those
//    that were imported from dconf. It only grows.
// 2. A domain is in the record before the reply to the change that brought it into dconf's file.

/// The record of the domains with settings of desktop programs: `DconfDomains.record`.
extension DconfDoor {
    /// The domains that the record has.
    func recordedDomains() throws -> Set<String> {
        let record = try Domain(name: DconfDomains.record, layer: .domain)
        let names = Set(try store.database.keys(of: record).map(\.name))
        state.recorded.formUnion(names)
        return names
    }

    /// Adds the domains of dconf's file that the record does not have yet.
    ///
    /// If there is no room now, the next file tries again.
    func recordDomains() {
        guard !state.domains.isSubset(of: state.recorded), !store.hasEnded,
            let change = try? settings.commit(proposalForRecord(of: state.domains))
        else { return }
        state.recorded.formUnion(state.domains)
        settings.publish(change)
    }

    /// - Throws: `NothingToRecord`.
    private func proposalForRecord(of domains: Set<String>) throws -> ChangeProposal {
        let missing = domains.subtracting(try recordedDomains())
        guard !missing.isEmpty else { throw NothingToRecord() }
        let value = try DconfDomains.recordValue
        return ChangeProposal(
            domain: try Domain(name: DconfDomains.record, layer: .domain),
            set: try missing.map { .init(key: try Key($0), archive: value.bytes) }, origin: "")
    }

    private struct NothingToRecord: Error {}
}
