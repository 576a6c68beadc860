import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import Logging
import SystemCalls

/// Restores a backup while the service is running.
///
/// Keys that differ are changed by ordinary changes. So watchers, pages, journal and generations
/// stay right, and nothing has to restart. There is one change for each domain, or several if very
/// many of its keys differ. Changes that other programs make meanwhile come after the restoration,
/// or are undone by it.
extension Settings {
    /// Restores a backup.
    ///
    /// - Returns: What it has changed, when that is on disk. For a dry run, what it would change.
    /// - Throws: If nothing was restored, or only a part. If a part was restored, the error names
    ///   the backup that can undo it.
    nonisolated(nonsending) func restore(_ restoration: Restoration) async throws
        -> RestorationReport
    {
        try checkNotEnding()
        let (backup, reader) = try await open(restoration.source)
        try await checkDomains(of: restoration, in: reader)
        var restoration = restoration
        restoration.note = history.noteOfRestoration(by: restoration.origin)
        var report = RestorationReport()
        report.undoing = .notNeeded(sparing: backup)
        report.damaged = UInt64(await reader.damage.rowCount)
        do {
            try await restore(restoration, from: reader, in: &report)
            if restoration.isDry { return report }
            _ = try await store.durability().get()
            // The backup may be older than the ID of a machine.
            defer { readPoliciesAgain() }
            try store.adoptHostLayers { publish($0) }
            _ = try await store.durability().get()
        } catch {
            if let error = error as? StorageError, error.isDamage {
                store.requestRepair(because: error.description)
            }
            // Nothing was changed, so there is no partial result to report. This also applies to a
            // dry run.
            if case .notNeeded = report.undoing { throw error }
            throw ContractError(notRestored: restoration.source.name, report, because: error)
        }
        logger.notice("Restored the backup \(restoration.source.name): \(report).")
        return report
    }

    /// Opens a backup and verifies it.
    ///
    /// Damage of single values is accepted.
    ///
    /// - Returns: The backup, if it is one of this database's own, and its reader.
    private nonisolated(nonsending) func open(
        _ source: Restoration.Source
    ) async throws -> (backup: Backup?, reader: BackupReader) {
        do {
            let backup: Backup?
            let reader: BackupReader
            switch source {
            case .backup(let name):
                guard let found = try store.database.backups().first(where: { $0.name == name })
                else {
                    throw ContractError(noBackup: name)
                }
                (backup, reader) = (found, try await store.writer.open(found))
            case .file(let path):
                guard !isDatabase(path) else { throw ContractError(restoringItself: path) }
                (backup, reader) = (nil, try await store.writer.openBackup(at: path))
            }
            while try await reader.verify() { try checkNotEnding() }
            let damage = await reader.damage
            if let structure = damage.structure { throw structure }
            if !damage.isNone { logger.warning("In the backup \(source.name): \(damage)") }
            return (backup, reader)
        } catch let error as StorageError where error.code == .damagedDatabase {
            throw ContractError(damagedBackup: source.name, because: error)
        }
    }

    /// Whether a path, however it is spelled, leads to the database itself, which is not a backup.
    private func isDatabase(_ path: String) -> Bool {
        FileIdentity.areSame(path, store.database.path)
    }

    /// Reads from the backup.
    ///
    /// Damage found there is not damage of the database.
    private nonisolated(nonsending) func read<Value: Sendable>(
        _ source: Restoration.Source,
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as StorageError where error.isDamage {
            throw ContractError(damageIn: source.name, error)
        }
    }

    /// Refuses a domain that neither the backup nor the database has, because its name is probably
    /// mistyped.
    private nonisolated(nonsending) func checkDomains(
        of restoration: Restoration, in reader: BackupReader
    ) async throws {
        let own = try store.database.domains()
        let unknown = restoration.domains.filter { named in
            !own.contains { Restoration.covers(named, $0) }
        }
        var missing = try await read(restoration.source) {
            try await reader.domainsWithoutValues(among: Array(unknown))
        }
        guard !missing.isEmpty else { return }
        // The backup may have the domain for one host only. A second reader searches for that,
        // because the first one must stay at the beginning.
        let (_, parts) = try await open(restoration.source)
        while let part = try await read(restoration.source, { try await parts.next() }),
            !missing.isEmpty
        {
            missing.removeAll { Restoration.covers($0, part.domain) }
        }
        guard let domain = missing.map({ $0.spelling(on: store.hosts) }).min() else { return }
        throw ContractError(noDomainToRestore: domain, from: restoration.source.name)
    }

    /// Makes the backup that can undo the restoration, before the first change.
    ///
    /// A restoration that changes nothing makes no backup, and so does not replace an older one.
    private nonisolated(nonsending) func backUpBeforeFirstChange(in report: inout RestorationReport)
        async throws
    {
        guard case .notNeeded(let spared) = report.undoing else { return }
        switch try await makeBackup(.undo, sparing: spared) {
        case .success(let undo): report.undoing = .made(undo)
        case .failure: report.undoing = .impossible
        }
    }

    private nonisolated(nonsending) func restore(
        _ restoration: Restoration, from reader: BackupReader, in report: inout RestorationReport
    ) async throws {
        // The key of a damaged row may be lost, too. So a key that is not found may be the key of
        // that row.
        let mayRemove = report.damaged == 0
        var difference: DomainDifference?
        while let part = try await read(restoration.source, { try await reader.next() }) {
            try checkNotEnding()
            guard restoration.covers(part.domain) else { continue }
            var current =
                if let difference, difference.domain == part.domain { difference } else {
                    DomainDifference(
                        of: part.domain,
                        removing: mayRemove ? try store.database.keys(of: part.domain) : [])
                }
            difference = nil
            report.damaged += try current.take(part) { try differs(part.domain, $0, from: $1) }
            if current.isLarge || part.isLast {
                var change = current.takeChange(by: restoration.origin)
                change.note = restoration.note
                try await make(change, in: &report, isDry: restoration.isDry)
            }
            difference = current
        }
        if mayRemove { try await removeDomains(restoration, notIn: reader, in: &report) }
    }

    private nonisolated(nonsending) func removeDomains(
        _ restoration: Restoration, notIn reader: BackupReader, in report: inout RestorationReport
    ) async throws {
        let origin = restoration.origin
        var rest = try store.database.domains().filter(restoration.covers)[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(1024))
            rest = rest.dropFirst(1024)
            let lacking = try await read(restoration.source) {
                try await reader.domainsWithoutValues(among: some)
            }
            for domain in lacking {
                try checkNotEnding()
                let keys = try store.database.keys(of: domain)
                let hasLocks = try keys.contains {
                    try locks.isLocked($0, in: domain, shownBy: store.view)
                }
                if hasLocks || restoration.isDry {
                    var change = ChangeProposal(domain: domain, removed: keys, origin: origin)
                    change.note = restoration.note
                    try await make(change, in: &report, isDry: restoration.isDry)
                    continue
                }
                try await backUpBeforeFirstChange(in: &report)
                if var removal = try removal(of: domain, by: origin) {
                    removal.note = restoration.note
                    report.removed += UInt64(clamping: try store.database.totals(of: domain).keys)
                    try await commit(removal, in: &report)
                }
            }
        }
    }

    private nonisolated(nonsending) func make(
        _ proposal: ChangeProposal, in report: inout RestorationReport, isDry: Bool
    ) async throws {
        var (change, locked) = try possible(proposal)
        if isDry {
            return try report.note(
                .init(
                    domain: change.domain, set: change.set.map(\.key), removed: change.removed,
                    locked: locked))
        }
        if !change.changesNothing {
            try await backUpBeforeFirstChange(in: &report)
            // Other programs may have removed or locked keys meanwhile.
            (change, locked) = try possible(proposal)
        }
        report.locked += locked
        guard !change.changesNothing else { return }
        try await commit(change, in: &report)
        report.set += UInt64(change.set.count)
        report.removed += UInt64(change.removed.count)
    }

    /// Makes one of the changes, which are all one action.
    private nonisolated(nonsending) func commit(
        _ proposal: ChangeProposal, in report: inout RestorationReport
    ) async throws {
        var proposal = proposal
        proposal.note?.action = report.action
        let change = try await commitWhenThereIsRoom(proposal)
        report.action = report.action ?? change.generation
        publish(change)
    }

    /// The part of a change that can be made now, and how many of its keys are locked.
    private func possible(
        _ proposal: ChangeProposal
    ) throws -> (change: ChangeProposal, locked: UInt64) {
        let domain = proposal.domain
        let set = try proposal.set.filter {
            try !locks.isLocked($0.key, in: domain, shownBy: store.view)
        }
        let present = try proposal.removed.filter {
            try store.database.generation(domain, $0) != nil
        }
        let removed = try present.filter {
            try !locks.isLocked($0, in: domain, shownBy: store.view)
        }
        let locked = UInt64(proposal.set.count - set.count + present.count - removed.count)
        var change = ChangeProposal(
            domain: domain, set: set, removed: removed, origin: proposal.origin)
        change.note = proposal.note
        return (change, locked)
    }
}
