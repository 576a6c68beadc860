import DconfFiles
import DefaultsDconf
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive
import Logging

// Invariants
//
// 1. What somebody else has changed in dconf's file becomes a change of the database, unless the setting
//    was changed here, too, or is locked.
// 2. The file is noted as imported only when all of this is on disk. So after an interruption it is
//    imported again, which changes nothing that was imported before.

/// Takes over what dconf's own service has stored while this daemon was not in its place.
extension DefaultsObject {
    func takeOver(_ found: DconfFile.Found, _ bytes: [UInt8]) async throws {
        let changes = try await onFileThread { try $0.changes(in: found) }
        for (_, changes) in Dictionary(grouping: changes, by: \.path.domain) {
            for proposal in try proposals(for: changes) where !proposal.changesNothing {
                publish(try await commitWhenThereIsRoom(proposal))
                logger.info(
                    """
                    \(proposal.domain) was changed in dconf's file; keys set: \
                    \(proposal.set.count), removed: \(proposal.removed.count).
                    """)
            }
        }
        if !changes.isEmpty { _ = try await durability().get() }
        try await onFileThread { try $0.noteImport(of: bytes) }
    }

    /// The changes of the layers of one domain.
    private func proposals(
        for changes: [DconfFile.ForeignChange]
    ) throws -> [ChangeProposal] {
        var set: [Domain: [ChangeProposal.Assignment]] = [:]
        var removed: [Domain: [Key]] = [:]
        for change in changes where !DconfDomains.isPrivate(change.path.domain) {
            let key = try Key(change.path.key)
            let layer = try layerOfChange(change.path)
            let own = try database.value(layer, key)
            guard try value(of: own, at: change.path) == change.before,
                try !isLocked(key, in: layer, shownBy: database.view)
            else { continue }
            if let value = change.after, let archive = try archive(of: value, at: change.path) {
                set[layer, default: []].append(.init(key: key, archive: archive.bytes))
            } else if change.after == nil, own != nil {
                removed[layer, default: []].append(key)
            }
        }
        return Set(set.keys).union(removed.keys).map {
            ChangeProposal(
                domain: $0, set: set[$0] ?? [], removed: removed[$0] ?? [], origin: "")
        }
    }

    /// The layer in which a setting is changed: that of this machine if it has the key, as programs see
    /// its value, and otherwise that of all machines.
    func layerOfChange(_ path: SettingsPath) throws -> Domain {
        let key = try Key(path.key)
        let own = try Domain(name: path.domain, layer: .host(hosts.this.id))
        return try database.generation(own, key) != nil
            ? own : Domain(name: path.domain, layer: .domain)
    }

    private func value(of stored: StoredValue?, at path: SettingsPath) throws -> ExactValue? {
        guard let stored, let archive = try? KeyedArchive(validating: stored.archive) else {
            return nil
        }
        return try? dconf?.file.schemas.value(of: archive, at: path)
    }

    /// Nil if the value is larger than values may be.
    private func archive(of value: ExactValue, at path: SettingsPath) throws -> KeyedArchive? {
        guard let archive = try? dconf?.file.schemas.archive(of: value, at: path),
            (try? ContractError.checkSize(of: archive)) != nil
        else { return nil }
        return archive
    }
}
