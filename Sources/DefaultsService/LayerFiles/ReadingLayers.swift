import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import Logging

/// When the files of administrators and vendors are read: at the start, soon after one has changed, at
/// SIGHUP, after a rescue of the store, and again while something is in the way.
extension DefaultsObject {
    /// How long after a sign of change the files are read, so that many make one reading: at least so
    /// long, and longer if reading them takes long, so that it takes a small part of the time.
    private static let settlingTime = Duration.milliseconds(10)
    private static let longestSettlingTime = Duration.milliseconds(300)
    /// How long after a sign that a file may still be written.
    private static let writingTime = Duration.milliseconds(500)
    /// How long after a refusal of the database, or of the system, they are read again.
    private static let pauseAfterFailure = Duration.seconds(5)
    /// How often they are read if the system does not watch them.
    private static let pauseUnwatched = Duration.seconds(30)

    /// Reads the files and changes what differs.
    ///
    /// Where they are being read already, that is done once more.
    func readLayers() async {
        layers.isOutdated = true
        guard !layers.isBeingRead else { return }
        layers.isBeingRead = true
        defer { layers.isBeingRead = false }
        while layers.isOutdated, !disk.hasEnded {
            layers.isOutdated = false
            // Before anything is looked at, so that no change falls between.
            let watchProblem = watchLayers()
            let began = ContinuousClock.now
            let isComplete = await updateLayers(watchProblem)
            layers.readingTime = began.duration(to: .now)
            if !isComplete { readLayers(after: Self.pauseAfterFailure) }
            if watchProblem != nil { readLayers(after: Self.pauseUnwatched) }
        }
    }

    /// Has the files read after a time, or earlier if that is planned already.
    private func readLayers(after delay: Duration) {
        let due = ContinuousClock.now + delay
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

    /// Watches the places.
    ///
    /// - Returns: Why that is not possible; nil if it is.
    private func watchLayers() -> LayerProblem? {
        let places = layers.places
        do throws(WatchFailure) {
            layers.watch = try DirectoryWatch(
                [places.managed, places.recommended, places.vendor], on: connection.loop
            ) { [unowned self] sign in
                assumeIsolated { $0.readLayers(after: sign) }
            }
            return nil
        } catch {
            layers.watch = nil
            return .notWatched(places.managed, error.number)
        }
    }

    /// Brings every layer up to date with its files.
    ///
    /// - Returns: Whether all could be read that may be, and the database has taken everything.
    private func updateLayers(_ watchProblem: LayerProblem?) async -> Bool {
        guard !disk.hasEnded else { return true }
        let generation = database.generation
        var isComplete = true
        do {
            // Nobody is served between a rescue and this: it may have brought an older value.
            let isAnew = try recallLayers()
            let listing = LayerListing(of: layers.places, remembering: layers.paths)
            report(listing.problems + [watchProblem].compactMap(\.self))
            for domain in Set(listing.files.keys).union(layers.known.keys).sorted() {
                guard !disk.hasEnded else { break }
                do {
                    try await update(domain, madeOf: listing.files[domain] ?? [])
                } catch {
                    // That of one domain is no reason to leave out the others.
                    isComplete = false
                    noteFailure(error)
                }
                // Others have their turn before the next.
                if !isAnew { await Task.yield() }
            }
        } catch {
            isComplete = false
            noteFailure(error)
        }
        if isComplete { layers.isRefused = false }
        if database.generation != generation { tidySoon() }
        return isComplete && !layers.isShortOfMeans
    }

    /// Learns from the database which files its layers are made of: at the first reading, and after
    /// the store was rescued.
    ///
    /// - Returns: Whether it was one of these.
    private func recallLayers() throws -> Bool {
        let rescue = database.lastRescue?.time ?? 0
        guard layers.rescue != rescue else { return false }
        (layers.known, layers.lookedInto) = ([:], nil)
        for domain in try database.domainsOfFiles() {
            let record = try fileRecord(of: domain)
            // What was recorded before a rescue may vouch for values that are lost.
            let isValid = record?.rescue == rescue
            layers.known[domain] = FileLayers.Known(
                files: record?.files.map { ($0.path, isValid ? $0.digest : 0) } ?? [],
                locks: LockTable(record?.locks ?? []))
        }
        layers.rescue = rescue
        return true
    }

    /// The record of the files that a layer is made of; nil if there is none that makes sense.
    func fileRecord(of domain: Domain) throws(StorageError) -> FileRecord? {
        if let known = layers.lookedInto, known.domain == domain { return known.record }
        do throws(StorageError) {
            return try database.value(domain, .fileRecord).flatMap { FileRecord($0.archive) }
        } catch {
            guard error.code == .damagedRow else { throw error }
            return nil
        }
    }
}

// MARK: What the log is told

extension DefaultsObject {
    private func report(_ problems: [LayerProblem]) {
        for problem in problems where !layers.problems.contains(problem) {
            logger.log(level: layers.problemLevel, "\(problem)")
        }
        layers.problems = Set(problems)
    }

    /// Says once why the database does not take what files say.
    private func noteFailure(_ error: any Error) {
        guard !layers.isRefused, !disk.hasEnded else { return }
        layers.isRefused = true
        logger.warning("What files say is not in force yet, and is tried again. \(error)")
    }
}
