import DconfFiles
import DefaultsCore
import DefaultsDconf
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive
import Logging

// Invariants
//
// 1. What somebody else has changed in dconf's file becomes a change of the database, unless the setting
//    was changed here, too, or is locked, or programs see that value already.
// 2. The file is noted as imported only when all of this is on disk. So after an interruption it is
//    imported again, which changes nothing that was imported before.

/// Takes over what dconf's own service has stored while this daemon was not in its place.
extension DconfDoor {
    /// How many settings are taken over before other work has its turn.
    private static let mostAtOnce = 256

    nonisolated(nonsending) func takeOver(_ found: DconfFile.Found, _ bytes: [UInt8]) async throws {
        let changes = try await onFileThread { try $0.changes(in: found) }
        var locked: [SettingsPath] = []
        for (_, changes) in Dictionary(grouping: changes, by: \.path.domain) {
            for start in stride(from: 0, to: changes.count, by: Self.mostAtOnce) {
                let part = changes[start..<min(start + Self.mostAtOnce, changes.count)]
                locked += try await takeOver(part)
                await turnOfOthers()
                guard !store.hasEnded else { throw Service.hasEnded }
            }
        }
        if !changes.isEmpty { _ = try await store.durability().get() }
        let kept = locked
        try await onFileThread { try $0.noteImport(of: found, bytes, keeping: kept) }
    }

    /// - Returns: The settings that are locked, so they were left out.
    private nonisolated(nonsending) func takeOver(_ changes: ArraySlice<DconfFile.ForeignChange>)
        async throws
        -> [SettingsPath]
    {
        let locked = try changes.map(\.path).filter { path in
            try settings.locks.isLocked(Key(path.key), in: layerOfChange(path), shownBy: store.view)
        }
        for proposal in try proposals(for: changes, besides: Set(locked))
        where !proposal.changesNothing {
            settings.publish(try await settings.commitWhenThereIsRoom(proposal))
            face.logger.info(
                """
                \(proposal.domain) was changed in dconf's file; keys set: \
                \(proposal.set.count), removed: \(proposal.removed.count).
                """)
        }
        return locked
    }

    /// The changes of the layers of one domain.
    private func proposals(
        for changes: ArraySlice<DconfFile.ForeignChange>, besides locked: Set<SettingsPath>
    ) throws -> [ChangeProposal] {
        var set: [Domain: [ChangeProposal.Assignment]] = [:]
        var removed: [Domain: [Key]] = [:]
        for change in changes
        where !locked.contains(change.path) && !DconfDomains.isPrivate(change.path.domain) {
            guard try isForeign(change) else { continue }
            let key = try Key(change.path.key)
            if let value = change.after, let archive = try archive(of: value, at: change.path) {
                let layer = try layerOfChange(change.path)
                set[layer, default: []].append(.init(key: key, archive: archive.bytes))
            } else if change.after == nil {
                for layer in try layersOfUsers(change.path)
                where try store.database.generation(layer, key) != nil {
                    removed[layer, default: []].append(key)
                }
            }
        }
        return Set(set.keys).union(removed.keys).map {
            ChangeProposal(
                domain: $0, set: set[$0] ?? [], removed: removed[$0] ?? [], origin: "")
        }
    }

    /// Whether somebody else has changed a setting, and it was not changed here, too.
    ///
    /// A value that programs see anyway may be from another layer: the file was a view before somebody
    /// else has changed another setting in it.
    private func isForeign(_ change: DconfFile.ForeignChange) throws -> Bool {
        let path = change.path
        let own = try store.database.value(try layerOfChange(path), try Key(path.key))
        guard try value(of: own?.archive, at: path) == change.before else { return false }
        guard let after = change.after else { return true }
        return try value(of: try visibleArchive(of: path), at: path) != after
    }

    /// The layers that users change: that of this machine and that of all machines.
    func layersOfUsers(_ path: SettingsPath) throws -> [Domain] {
        try [.host(store.hosts.this.id), .domain].map { try Domain(name: path.domain, layer: $0) }
    }

    /// The layer in which a setting is changed.
    func layerOfChange(_ path: SettingsPath) throws -> Domain {
        try face.layerOfChange(Key(path.key), in: path.domain)
    }

    private func value(of archive: [UInt8]?, at path: SettingsPath) throws -> ExactValue? {
        guard let archive, let archive = try? KeyedArchive(validating: archive) else {
            return nil
        }
        return try? state.file.schemas.value(of: archive, at: path)
    }

    /// Nil if the value is larger than values may be.
    private func archive(of value: ExactValue, at path: SettingsPath) throws -> KeyedArchive? {
        guard let archive = try? state.file.schemas.archive(of: value, at: path),
            (try? ContractError.checkSize(of: archive)) != nil
        else { return nil }
        return archive
    }
}
