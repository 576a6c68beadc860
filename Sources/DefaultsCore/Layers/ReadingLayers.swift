import class DBus.EventLoop
import DefaultsFiles
import DefaultsModel
import DefaultsStorage
import Logging

/// Reads the files of administrators and vendors.
extension Settings {
    /// Reads the files and changes what differs.
    package nonisolated(nonsending) func readLayers() async {
        await layerSchedule.run { await updateLayers($0) }
    }

    /// Brings every layer up to date with its files.
    ///
    /// - Returns: Whether all files could be read that the daemon may read, and the database has
    ///   accepted everything.
    private nonisolated(nonsending) func updateLayers(_ watchProblem: LayerProblem?) async -> Bool {
        guard !store.hasEnded else { return true }
        let generation = store.database.generation
        var isComplete = true
        do {
            // No call is answered between a repair and this: the repair may have brought back an
            // older value.
            let isReload = try loadRecords()
            let listing = LayerListing(of: layers.places, remembering: layers.paths)
            report(listing.problems + [watchProblem].compactMap(\.self))
            for domain in layers.domains.union(listing.files.keys).sorted() {
                guard !store.hasEnded else { break }
                do {
                    try await update(domain, madeOf: listing.files[domain] ?? [])
                } catch {
                    // An error in one domain does not prevent the others.
                    isComplete = false
                    noteFailure(error)
                }
                // Other work has its turn before the next domain.
                if !isReload { await loop.waitForTurn() }
            }
        } catch {
            isComplete = false
            noteFailure(error)
        }
        if isComplete { layers.note(isRefused: false) }
        if store.database.generation != generation { memory.returnSoon() }
        return isComplete && !layers.lacksResources
    }

    /// Reads from the database which files its layers are made from: at the first reading, and
    /// after a repair of the store.
    ///
    /// - Returns: Whether this was such a reading.
    private func loadRecords() throws -> Bool {
        let repair = store.database.lastRepair?.time ?? 0
        guard layers.repair != repair else { return false }
        layers.beginAgain(after: repair, try knownLayers(after: repair))
        return true
    }

    private func knownLayers(after repair: Int64) throws -> [Domain: FileLayers.Known] {
        var layers: [Domain: FileLayers.Known] = [:]
        for domain in try store.database.domainsOfFiles() {
            let record = try locks.record(of: domain)
            // A record from before the repair may describe values that are lost.
            let isValid = record?.repair == repair
            layers[domain] = FileLayers.Known(
                files: record?.files.map { ($0.path, isValid ? $0.digest : 0) } ?? [],
                locks: LockTable(record?.locks ?? []))
        }
        return layers
    }
}

// MARK: What is logged

extension Settings {
    private func report(_ problems: [LayerProblem]) {
        for problem in layers.note(problems) {
            logger.log(.invalidFile, level: layers.problemLevel, "\(problem)")
        }
    }

    /// Logs, once, why the database does not accept what the files contain.
    private func noteFailure(_ error: any Error) {
        guard !store.hasEnded, layers.note(isRefused: true) else { return }
        logger.warning("The values in files do not apply yet; the daemon retries. \(error)")
    }
}
