import KeyedArchive

/// Typed values of what a store finds.
extension Store {
    /// What holds for a key, or its default where that cannot be told.
    @usableFromInline
    func value<Value>(of key: DefaultsKey<Value>) -> Value {
        Fork.isChild ? key.defaultValue : value(holding: find(key.id), of: key)
    }

    /// The value of what was found, or the key's default.
    func value<Value>(holding found: Found, of key: DefaultsKey<Value>) -> Value {
        do {
            return try value(of: found, as: key) ?? key.defaultValue
        } catch {
            report(error, reading: key, found)
            return key.defaultValue
        }
    }

    func readValue<Value>(of key: DefaultsKey<Value>) throws -> Value {
        try Fork.check()
        return try value(of: find(key.id), as: key) ?? key.defaultValue
    }

    func readValue<Value>(of key: DefaultsKey<Value>, in layer: DefaultsLayer) throws -> Value? {
        try Fork.check()
        return try value(of: find(key.id, in: layer), as: key)
    }

    /// The value of what was found; nil where nothing was.
    func value<Value>(of found: Found, as key: DefaultsKey<Value>) throws -> Value? {
        guard let entry = found.entry else { return nil }
        if key.coding.isShared, let decoded = lock.reading({ entry.decoded }) as? Decoded<Value> {
            return decoded.value
        }
        let value: Value
        switch entry.content {
        case .archive(let bytes):
            value = try read(bytes, of: entry, as: key)
        case .large:
            guard let bytes = try fetch(entry, of: key, in: found.spelling ?? name) else {
                return nil
            }
            // It may fill the memory, and is had again when it is wanted again.
            return try read(bytes, of: entry, as: key)
        case .argument(let word):
            value = try argument(word, of: key)
        }
        if key.coding.isShared {
            let decoded = Decoded(value)
            lock.reading { entry.decoded = decoded }
        }
        return value
    }

    /// The value of an entry's bytes; if there is none, the entry keeps the bytes.
    private func read<Value>(
        _ bytes: [UInt8], of entry: Entry, as key: DefaultsKey<Value>
    ) throws -> Value {
        do {
            let value = try key.value(of: KeyedArchive(validating: bytes))
            lock.reading { if entry.unread?.reader == key.holder { entry.unread = nil } }
            return value
        } catch {
            lock.reading { entry.unread = Entry.Unread(reader: key.holder, bytes: bytes) }
            throw error
        }
    }

    private func fetch(
        _ entry: Entry, of key: DefaultsKeys, in spelling: String
    ) throws -> [UInt8]? {
        do {
            return try service.fetch(key.id, in: spelling)
        } catch {
            lock.reading { entry.unread = Entry.Unread(reader: key.holder, bytes: nil) }
            throw error
        }
    }

    private func argument<Value>(_ word: String, of key: DefaultsKey<Value>) throws -> Value {
        for archive in ArgumentDomain.archives(of: word) {
            if let value = try? key.value(of: archive) { return value }
        }
        throw ClientError.notOfType(Value.self, argument: key.id)
    }

    /// Tells once of each value that cannot be read.
    private func report(_ error: any Error, reading key: DefaultsKeys, _ found: Found) {
        let isNew = lock.reading {
            defer { found.entry?.isReported = true }
            return found.entry?.isReported == false
        }
        guard isNew else { return }
        failures.tell(
            DefaultsFailure(
                action: .read, keys: [key.id], domain: found.spelling ?? name, error: error))
    }

    func isLocked(_ name: KeyName) -> Bool {
        service.makeCurrent(copies)
        let known = lock.reading { () -> Bool? in
            guard let own = own.isLocked(name) else { return nil }
            guard let global else { return own }
            return global.isLocked(name).map { own || $0 }
        }
        return known ?? (try? service.isLocked(name, in: own.name)) ?? false
    }
}
