import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import Glibc
import KeyedArchive
import Logging

/// The layers that are made of files: what the files say is kept in the database, so that reads,
/// generations, the record of changes, the page and the signal are those of every other layer, and
/// neither the start nor memory grows with the files.
///
/// Invariants:
/// 1. A file that differs from what is kept makes one change of its domain's layer, by nobody: its
///    values and the record of the files together.
/// 2. Files that are as the record says are not parsed. A record says so of none that is bad, nor
///    after a rescue of the store.
/// 3. A bad file is told once; what is in force from it stays, and no other file suffers.
extension DefaultsObject {
    /// How long after a sign of change the files are read, so that many make one reading: at least so
    /// long, and longer where reading them takes long, so that it takes a small part of the time.
    private static let settlingTime = Duration.milliseconds(10)
    private static let longestSettlingTime = Duration.milliseconds(300)
    /// How long after a refusal of the database they are read again.
    private static let pauseAfterFailure = Duration.seconds(5)

    /// Reads the files and changes what differs.
    ///
    /// Where they are being read already, that is done once more.
    func readLayers() async {
        layers.isOutdated = true
        guard !layers.isBeingRead else { return }
        layers.isBeingRead = true
        defer { layers.isBeingRead = false }
        while layers.isOutdated, lastOutcome == nil {
            layers.isOutdated = false
            // Before anything is looked at, so that no change falls between.
            watchLayers()
            let began = ContinuousClock.now
            if await !updateLayers() { readLayers(after: Self.pauseAfterFailure) }
            layers.readingTime = began.duration(to: .now)
        }
    }

    private func readLayers(after delay: Duration) {
        guard layers.timer == nil, lastOutcome == nil else { return }
        layers.timer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { object in
                object.layers.timer = nil
                Task(executorPreference: object.connection.loop) { await object.readLayers() }
            }
        }
    }

    private func readLayersWhenSettled() {
        readLayers(
            after: min(max(layers.readingTime * 4, Self.settlingTime), Self.longestSettlingTime))
    }

    private func watchLayers() {
        let places = layers.places
        do throws(WatchFailure) {
            layers.watch = try DirectoryWatch(
                [places.managed, places.recommended, places.vendor], on: connection.loop
            ) { [unowned self] in
                assumeIsolated { $0.readLayersWhenSettled() }
            }
            layers.isUnwatched = false
        } catch {
            layers.watch = nil
            guard !layers.isUnwatched else { return }
            layers.isUnwatched = true
            logger.warning(
                """
                The files of administrators and vendors cannot be watched \
                (\(String(cString: strerror(error.number)))). They are read at the start and on \
                SIGHUP; raise fs.inotify.max_user_instances.
                """)
        }
    }

    /// Brings every layer up to date with its files.
    ///
    /// - Returns: Whether the database has taken everything.
    private func updateLayers() async -> Bool {
        guard lastOutcome == nil else { return true }
        let listing = LayerListing(of: layers.places)
        for problem in listing.problems where !layers.problems.contains(problem) {
            logger.warning("\(problem)")
        }
        layers.problems = listing.problems
        var isComplete = true
        let generation = database.generation
        do {
            try recallLayers()
            for domain in Set(listing.files.keys).union(layers.known.keys).sorted() {
                guard lastOutcome == nil else { break }
                do {
                    try await update(domain, madeOf: listing.files[domain] ?? [])
                } catch {
                    // That of one domain is no reason to leave out the others.
                    isComplete = false
                    noteFailure(error)
                }
            }
        } catch {
            isComplete = false
            noteFailure(error)
        }
        if isComplete { layers.isRefused = false }
        if database.generation != generation { tidySoon() }
        return isComplete
    }

    /// Says once why the database does not take what files say.
    private func noteFailure(_ error: any Error) {
        guard !layers.isRefused, lastOutcome == nil else { return }
        layers.isRefused = true
        logger.warning("What files say is not in force yet, and is tried again. \(error)")
    }

    /// Learns from the database which files its layers are made of: at the first reading, and after
    /// the store was rescued.
    private func recallLayers() throws {
        let rescue = database.lastRescue?.time ?? 0
        guard layers.rescue != rescue else { return }
        layers.known = [:]
        for domain in try database.domainsOfFiles() {
            let record = try fileRecord(of: domain)
            layers.known[domain] = FileLayers.Known(
                files: record?.rescue == rescue ? record?.files ?? [] : [],
                locks: LockTable(record?.patterns ?? []))
        }
        layers.rescue = rescue
    }

    /// The record of the files that a layer is made of; nil where there is none that makes sense.
    func fileRecord(of domain: Domain) throws(StorageError) -> FileRecord? {
        do throws(StorageError) {
            return try database.value(domain, .fileRecord).flatMap { FileRecord($0.archive) }
        } catch {
            guard error.code == .damagedRow else { throw error }
            return nil
        }
    }
}

// MARK: One layer of a domain

extension DefaultsObject {
    /// Has a layer be what its files say.
    private func update(_ domain: Domain, madeOf files: [LayerFile]) async throws {
        let found = files.compactMap(FoundFile.init)
        let digests = found.map { FileRecord.File(path: $0.file.path, digest: $0.digest) }
        let known = layers.known[domain]
        // Since this was called the end may have come, after which there is no database.
        guard lastOutcome == nil, digests != known?.files else { return }
        let (change, state) = try difference(of: domain, from: found, digests)
        var new = FileLayers.Known(
            files: digests, locks: LockTable(state.record.patterns),
            problems: state.problems)
        do {
            if let change { try await make(change, hasSameLocks: state.hasSameLocks) }
        } catch let error as StorageError where error.isForGood {
            new.locks = known?.locks ?? LockTable()
            for file in digests { new.problems[file.path] = .notTaken(file.path, error) }
        }
        report(new.problems, of: domain, unlike: known)
        layers.known[domain] = found.isEmpty ? nil : new
        // Others have their turn before the next.
        await Task.yield()
    }

    /// What was found in the files of a layer.
    private struct LayerState {
        var record: FileRecord
        var problems: [String: LayerProblem]
        let hasSameLocks: Bool
    }

    /// What is to be changed for a layer to be what its files say; nil where nothing is.
    private func difference(
        of domain: Domain, from found: [FoundFile], _ digests: [FileRecord.File]
    ) throws -> (ChangeProposal?, LayerState) {
        let old = try fileRecord(of: domain)
        let (merged, problems) = try merge(found, over: old, of: domain)
        let files = digests.map { problems[$0.path] == nil ? $0 : .bad(at: $0.path) }
        let record = merged.record(of: files, rescue: layers.rescue ?? 0)
        let state = LayerState(
            record: record, problems: problems,
            hasSameLocks: old?.patterns ?? [] == record.patterns)
        var set: [ChangeProposal.Assignment] = []
        for key in merged.values.keys.sorted() {
            guard let archive = merged.values[key], try differs(domain, key, from: archive) else {
                continue
            }
            set.append(.init(key: key, archive: archive.bytes))
        }
        var removed = try database.keys(of: domain).filter { merged.values[$0] == nil }
        if found.isEmpty {
            if old != nil { removed.append(.fileRecord) }
        } else if record != old {
            set.append(.init(key: .fileRecord, archive: try record.archive()))
        }
        let change = ChangeProposal(domain: domain, set: set, removed: removed, origin: "")
        return (change.changesNothing ? nil : change, state)
    }

    /// Merges what the files say; of a bad one what is in force.
    private func merge(
        _ found: [FoundFile], over old: FileRecord?, of domain: Domain
    ) throws -> (MergedLayer, problems: [String: LayerProblem]) {
        var merged = MergedLayer()
        var problems: [String: LayerProblem] = [:]
        for (index, file) in found.enumerated() {
            do throws(LayerProblem) {
                merged.add(try file.document(), from: index)
            } catch {
                problems[file.file.path] = error
                guard let old else { continue }
                try keep(file.file.path, of: old, in: domain, as: index, in: &merged)
            }
        }
        return (merged, problems)
    }

    /// Adds what is in force from a file.
    private func keep(
        _ path: String, of old: FileRecord, in domain: Domain, as index: Int,
        in merged: inout MergedLayer
    ) throws {
        for lock in old.locks where old.path(of: lock.file) == path {
            merged.lock(lock.pattern, from: index)
        }
        let sources = Dictionary(
            old.sources.compactMap { source in
                (try? Key(source.key)).map { ($0, source.file) }
            }, uniquingKeysWith: { $1 })
        for key in try database.keys(of: domain) where old.path(of: sources[key] ?? 0) == path {
            guard let stored = try database.value(domain, key) else { continue }
            merged.set(key, to: try KeyedArchive(validating: stored.archive), from: index)
        }
    }

    /// Makes a change of a layer.
    ///
    /// Of a file that was written anew and says the same nobody is told.
    private func make(_ proposal: ChangeProposal, hasSameLocks: Bool) async throws {
        let change = try await commitWhenThereIsRoom(proposal)
        let isSilent =
            hasSameLocks && change.set.allSatisfy { $0.key == .fileRecord }
            && change.removed.allSatisfy { $0 == .fileRecord }
        if isSilent { noteChange() } else { conclude(change) }
        logger.info(
            """
            \(change.domain) was read from its files: \
            \(change.set.count { $0.key != .fileRecord }) keys set, \
            \(change.removed.count { $0 != .fileRecord }) removed.
            """)
    }

    private func report(
        _ problems: [String: LayerProblem], of domain: Domain, unlike known: FileLayers.Known?
    ) {
        for (path, problem) in problems.sorted(by: { $0.key < $1.key })
        where known?.problems[path] != problem {
            logger.warning(
                "\(problem) What \(domain) has from this file stays as it was.")
        }
        for path in (known?.problems ?? [:]).keys.sorted() where problems[path] == nil {
            logger.notice("\(path) can be read again, or is gone.")
        }
    }
}

extension StorageError {
    /// Whether the same change is refused tomorrow, too.
    fileprivate var isForGood: Bool { code == .changeTooLarge || code == .keyNamesTooLarge }
}
