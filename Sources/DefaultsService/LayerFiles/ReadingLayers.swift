import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import Logging

/// When the files of administrators and vendors are read: at the start, soon after a change, at
/// SIGHUP, after a repair of the store, and again after a failure.
extension DefaultsObject {
    /// How long after an event the files are read, so that many events cause only one reading.
    ///
    /// The delay is at least this long. It is longer if reading takes long, so that reading takes
    /// only a small part of the time.
    private static let settlingTime = Duration.milliseconds(10)
    private static let longestSettlingTime = Duration.milliseconds(300)
    /// The delay after an event that may mean that a file is still being written.
    private static let writingTime = Duration.milliseconds(500)
    /// The pause after the database or the system has refused something.
    private static let pauseAfterFailure = Duration.seconds(5)
    /// How often the files are read if the system cannot watch them.
    private static let pauseUnwatched = Duration.seconds(30)

    /// Reads the files and changes what differs.
    ///
    /// If they are being read already, they are read once more after that.
    func readLayers() async {
        layers.isOutdated = true
        guard !layers.isBeingRead else { return }
        layers.isBeingRead = true
        defer { layers.isBeingRead = false }
        while layers.isOutdated, !disk.hasEnded {
            layers.isOutdated = false
            // This comes before anything is read, so that no change is missed.
            let watchProblem = watchLayers()
            let began = now
            let isComplete = await updateLayers(watchProblem)
            layers.readingTime = began.duration(to: now)
            if !isComplete { readLayers(after: Self.pauseAfterFailure) }
            if watchProblem != nil { readLayers(after: Self.pauseUnwatched) }
        }
    }

    /// Schedules a reading after a delay, unless an earlier one is scheduled.
    private func readLayers(after delay: Duration) {
        let due = now + delay
        guard !disk.hasEnded, layers.timerDue.map({ due < $0 }) ?? true else { return }
        layers.timer?.cancel()
        layers.timerDue = due
        layers.timer = connection.loop.schedule(after: delay) {
            self.assumeIsolated { object in
                (object.layers.timer, object.layers.timerDue) = (nil, nil)
                Task(executorPreference: object.connection.loop) { await object.readLayers() }
            }
        }
    }

    private func readLayers(after sign: DirectoryWatch.Sign) {
        switch sign {
        case .change:
            readLayers(
                after: min(max(layers.readingTime * 4, Self.settlingTime), Self.longestSettlingTime)
            )
        case .newFile: readLayers(after: Self.writingTime)
        }
    }

    /// Watches the directories.
    ///
    /// - Returns: Why this is not possible; nil if it is.
    private func watchLayers() -> LayerProblem? {
        do throws(WatchFailure) {
            layers.watch = try DirectoryWatch(
                layers.places.directories, on: connection.loop
            ) { [unowned self] sign in
                assumeIsolated { $0.readLayers(after: sign) }
            }
            return nil
        } catch {
            layers.watch = nil
            return .notWatched(layers.places.managed, error.number)
        }
    }

    /// Brings every layer up to date with its files.
    ///
    /// - Returns: Whether all files could be read that the daemon may read, and the database has
    ///   accepted everything.
    private func updateLayers(_ watchProblem: LayerProblem?) async -> Bool {
        guard !disk.hasEnded else { return true }
        let generation = database.generation
        var isComplete = true
        do {
            // No call is answered between a repair and this: the repair may have brought back an
            // older value.
            let isReload = try loadRecords()
            let listing = LayerListing(of: layers.places, remembering: layers.paths)
            report(listing.problems + [watchProblem].compactMap(\.self))
            for domain in Set(listing.files.keys).union(layers.known.keys).sorted() {
                guard !disk.hasEnded else { break }
                do {
                    try await update(domain, madeOf: listing.files[domain] ?? [])
                } catch {
                    // An error in one domain does not prevent the others.
                    isComplete = false
                    noteFailure(error)
                }
                // Other work has its turn before the next domain.
                if !isReload { await Task.yield() }
            }
        } catch {
            isComplete = false
            noteFailure(error)
        }
        if isComplete { layers.isRefused = false }
        if database.generation != generation { memory.returnSoon() }
        return isComplete && !layers.lacksResources
    }

    /// Reads from the database which files its layers are made from: at the first reading, and
    /// after a repair of the store.
    ///
    /// - Returns: Whether this was such a reading.
    private func loadRecords() throws -> Bool {
        let repair = database.lastRepair?.time ?? 0
        guard layers.repair != repair else { return false }
        (layers.known, layers.lastRecord) = ([:], nil)
        for domain in try database.domainsOfFiles() {
            let record = try fileRecord(of: domain)
            // A record from before the repair may describe values that are lost.
            let isValid = record?.repair == repair
            layers.known[domain] = FileLayers.Known(
                files: record?.files.map { ($0.path, isValid ? $0.digest : 0) } ?? [],
                locks: LockTable(record?.locks ?? []))
        }
        layers.repair = repair
        return true
    }

    /// The record of the files that a layer is made from; nil if there is no valid record.
    func fileRecord(of domain: Domain) throws(StorageError) -> FileRecord? {
        if let known = layers.lastRecord, known.domain == domain { return known.record }
        do throws(StorageError) {
            return try database.value(domain, .fileRecord).flatMap { FileRecord($0.archive) }
        } catch {
            guard error.code == .damagedRow else { throw error }
            return nil
        }
    }
}

// MARK: What is logged

extension DefaultsObject {
    private func report(_ problems: [LayerProblem]) {
        for problem in problems where !layers.problems.contains(problem) {
            logger.log(.invalidFile, level: layers.problemLevel, "\(problem)")
        }
        layers.problems = Set(problems)
    }

    /// Logs, once, why the database does not accept what the files contain.
    private func noteFailure(_ error: any Error) {
        guard !layers.isRefused, !disk.hasEnded else { return }
        layers.isRefused = true
        logger.warning("The values in files do not apply yet; the daemon retries. \(error)")
    }
}
