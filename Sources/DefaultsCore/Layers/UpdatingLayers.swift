import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import KeyedArchive
import Logging

/// Keeps the layers that are made from files up to date.
///
/// The values in files are stored in the database. So reads, generations, the record of changes,
/// the page and the signal work as for every other layer, and a start parses only files that have
/// changed.
///
/// Invariants:
/// 1. A changed file makes one change of its layer: the values and the record of the files
///    together. The change has no writer.
/// 2. Files that match the record are not parsed. The record never matches an invalid file, and not
///    after a repair of the store.
/// 3. An invalid file is reported once. Its last valid contents stay in force, and other files are
///    unaffected.
extension Settings {
    /// Updates a layer from its files.
    nonisolated(nonsending) func update(_ domain: Domain, madeOf files: [LayerFile]) async throws {
        // The end may have come since this was called. Then the database is closed.
        guard !store.hasEnded else { return }
        var room = FoundFile.room
        let found = files.compactMap { FoundFile($0, room: &room) }
        let known = layers[domain]
        if let known, known.isMade(of: found) { return }
        if known == nil, found.isEmpty { return }
        let old = try self.locks.record(of: domain)
        var merging = try merge(found, over: old, of: domain)
        let record = merging.layer.record(
            of: found.map { ($0.path, merging.problems[$0.path] == nil ? $0.digest : 0) },
            repair: layers.repair ?? 0)
        var locks = record.locks
        do {
            if let change = try difference(of: domain, from: merging.layer, record, old) {
                try await make(change, locks: record.locks, before: old?.locks ?? []) {
                    know(domain, madeOf: found, locks: record.locks, merging)
                }
            }
        } catch let error where Self.isPermanent(error) {
            locks = old?.locks ?? []
            for file in found { merging.refuse(file, because: error, over: old) }
        }
        report(merging, of: domain, unlike: known)
        know(domain, madeOf: found, locks: locks, merging)
    }

    private func know(
        _ domain: Domain, madeOf found: [FoundFile], locks: [Lock], _ merging: Merging
    ) {
        layers.note(
            found.isEmpty
                ? nil
                : FileLayers.Known(
                    files: found.map { ($0.path, $0.digest) }, locks: LockTable(locks),
                    problems: merging.problems), of: domain)
    }

    /// Whether the same change will always be refused.
    private static func isPermanent(_ error: any Error) -> Bool {
        if error is FileRecord.TooLarge { return true }
        let code = (error as? StorageError)?.code
        return code == .changeTooLarge || code == .keyNamesTooLarge
    }

    /// The change that brings a layer up to date with its files; nil if it already is.
    private func difference(
        of domain: Domain, from layer: MergedLayer, _ record: FileRecord, _ old: FileRecord?
    ) throws -> ChangeProposal? {
        var set: [ChangeProposal.Assignment] = []
        for key in layer.keys {
            guard let archive = layer.value(of: key), try differs(domain, key, from: archive) else {
                continue
            }
            set.append(.init(key: key, archive: archive.bytes))
        }
        var removed = try store.database.keys(of: domain).filter { layer.value(of: $0) == nil }
        if record.files.isEmpty {
            if try store.database.generation(domain, .fileRecord) != nil {
                removed.append(.fileRecord)
            }
        } else if record != old {
            set.append(.init(key: .fileRecord, archive: try record.archive()))
        }
        let change = ChangeProposal(domain: domain, set: set, removed: removed, origin: "")
        return change.changesNothing ? nil : change
    }

    /// Makes a change of a layer.
    ///
    /// If a file was rewritten with the same contents, there is no signal and no log line.
    ///
    /// - Parameter note: Notes the files and their locks. This comes before the signal, after which
    ///   clients ask what is locked.
    private nonisolated(nonsending) func make(
        _ proposal: ChangeProposal, locks: [Lock], before: [Lock], note: () -> Void
    ) async throws {
        let change = try await commitWhenThereIsRoom(proposal)
        note()
        let set = change.set.count { $0.key != .fileRecord }
        let removed = change.removed.count { $0 != .fileRecord }
        guard set > 0 || removed > 0 || locks != before else { return store.noteChange() }
        publish(change)
        logger.info(
            """
            \(change.domain) was read from its files; keys set: \(set), removed: \(removed), locks \
            beside those: \(locks.count).
            """)
    }
}

// MARK: Merging

/// The result of merging the files of a layer.
private struct Merging {
    var layer = MergedLayer()
    var problems: [FilePath: LayerProblem] = [:]
    /// The invalid files whose last valid contents are in force.
    var kept: Set<FilePath> = []

    mutating func refuse(_ file: FoundFile, because error: any Error, over old: FileRecord?) {
        problems[file.path] = .notTaken(file.file.path, error)
        if old?.files.contains(where: { $0.path == file.path }) == true { kept.insert(file.path) }
    }
}

extension Settings {
    /// Merges the files.
    ///
    /// For an invalid file, its last valid contents are used.
    private func merge(
        _ found: [FoundFile], over old: FileRecord?, of domain: Domain
    ) throws -> Merging {
        var merging = Merging()
        for (index, file) in found.enumerated() {
            do throws(LayerProblem) {
                merging.layer.add(try file.document(), from: index)
            } catch {
                merging.problems[file.path] = error
                guard let old,
                    try keep(file.path, of: old, in: domain, as: index, in: &merging.layer)
                else { continue }
                merging.kept.insert(file.path)
            }
        }
        return merging
    }

    /// Adds what the layer has from a file, including overridden values.
    ///
    /// - Returns: Whether there is anything.
    private func keep(
        _ path: FilePath, of old: FileRecord, in domain: Domain, as index: Int,
        in layer: inout MergedLayer
    ) throws -> Bool {
        guard let position = old.files.firstIndex(where: { $0.path == path }) else { return false }
        let file = old.files[position]
        layer.lock(file.locks, from: index)
        let sources = old.sources
        let keys = try store.database.keys(of: domain).filter {
            sources[$0].map { $0 == path } ?? (position == 0)
        }
        for key in keys {
            guard let stored = try store.database.value(domain, key) else { continue }
            layer.set(key, to: try KeyedArchive(validating: stored.archive), from: index)
        }
        for hidden in file.hidden {
            layer.set(
                try Key(hidden.key), to: try KeyedArchive(validating: hidden.archive), from: index)
        }
        return !keys.isEmpty || !file.locks.isEmpty || !file.hidden.isEmpty
    }

    private func report(
        _ merging: Merging, of domain: Domain, unlike known: FileLayers.Known?
    ) {
        for (path, problem) in merging.problems.sorted(by: { $0.key < $1.key })
        where known?.problems[path] != problem {
            let rest =
                merging.kept.contains(path)
                ? "The last valid contents of this file stay in force in \(domain)."
                : "None of it is in force."
            logger.log(
                .invalidFile, level: layers.problemLevel, "\(problem) \(rest)",
                fields: [.domain: domain.name, .path: "\(path)"])
        }
        for path in (known?.problems ?? [:]).keys.sorted() where merging.problems[path] == nil {
            logger.notice("\(path) is valid again, or was removed.")
        }
    }
}
