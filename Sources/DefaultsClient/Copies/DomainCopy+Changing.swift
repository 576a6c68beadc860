import DefaultsTerms

/// What this process changes.
extension DomainCopy {
    /// Takes a change of one key, to be sent with others that wait.
    func enqueue(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) {
        change(CollectionOfOne(name), isOwn: true) { outbox.add(entry, forKey: name, in: layer) }
    }

    /// Takes changes that are to be sent as they are.
    func enqueue(_ batch: Batch) {
        change(batch.changes.keys, isOwn: true) { outbox.append(batch) }
    }

    /// Whether a change would leave everything as it is.
    func isNoChange(_ entry: Entry?, forKey name: KeyName, in layer: LayerName) -> Bool {
        isCurrent && self.entry(name, in: layer).isSame(as: entry)
    }

    /// The batch that is to be sent, now sent; nil where there is none, or one is on its way.
    func takeNextToSend() -> Batch? {
        guard let first = outbox.batches.first, !first.isOnItsWay else { return nil }
        first.send()
        return first
    }

    /// The first batch is the service's.
    ///
    /// - Parameter generation: The one that its answer tells. It is an old one where the batch was sent
    ///   again because an answer was lost; what was read since is newer.
    func acknowledge(_ generation: UInt64) {
        guard let batch = outbox.batches.first else { return }
        guard generation > readGeneration else {
            return change(batch.changes.keys, isOwn: false) { _ = outbox.removeFirst() }
        }
        _ = outbox.removeFirst()
        // The values stay the same for all who look, so nobody is told.
        for (name, entry) in batch.changes {
            layers[batch.layer.index][name] = isKept(entry) ? entry : Entry(.large)
        }
        let large = batch.changes.filter { !isKept($0.value) }
        if !large.isEmpty { for store in stores { store.forget(large.keys) } }
        // Nobody changed anything in between, so that the layers are as new as the change. Where there
        // is a gap somebody may have, of whom the signal waits for the disk: it is asked for then.
        if isLoaded && generation == self.generation + 1 && newestForeign <= self.generation {
            self.generation = generation
        }
    }

    private func isKept(_ entry: Entry?) -> Bool {
        holdsLarge || entry?.isLarge != true
    }

    /// The service has refused the first batch: what it changed is as before.
    func refuse() {
        guard let batch = outbox.batches.first else { return }
        change(batch.changes.keys, isOwn: false) { _ = outbox.removeFirst() }
    }

    /// What became of the first batch is not known, or it did not get there: it is sent once more.
    func sendAgain() {
        outbox.batches.first?.isOnItsWay = false
    }
}
