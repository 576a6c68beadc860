import DefaultsProtocol
import DefaultsTerms
import KeyedArchive

/// Typed values of what a store finds.
extension Store {
    /// The value of a key, or its default if the value cannot be read.
    @usableFromInline
    func value<Value>(of key: DefaultsKey<Value>) -> Value {
        Fork.isChild ? key.defaultValue : value(holding: find(key.id), of: key)
    }

    /// The value of what was found, or the key's default.
    func value<Value>(holding found: Found, of key: DefaultsKey<Value>) -> Value {
        do throws(DefaultsError) {
            return try value(of: found, as: key) ?? key.defaultValue
        } catch {
            report(error, reading: key, found)
            return key.defaultValue
        }
    }

    func readValue<Value>(of key: DefaultsKey<Value>) throws(DefaultsError) -> Value {
        try Fork.check()
        return try value(of: findKnown(key.id), as: key) ?? key.defaultValue
    }

    func readValue<Value>(
        of key: DefaultsKey<Value>, in layer: DefaultsLayer
    ) throws(DefaultsError) -> Value? {
        try Fork.check()
        return try value(of: findKnown(key.id, in: layer), as: key)
    }

    /// The value of a key, or of one layer of it, if it is known what there is.
    ///
    /// - Throws: `unreachable` if nothing was found and the service has never said what there is.
    func findKnown(
        _ name: KeyName, in layer: DefaultsLayer? = nil
    ) throws(DefaultsError) -> Found {
        let found = layer.map { find(name, in: $0) } ?? find(name)
        guard found.entry == nil || found.layer == .registered else { return found }
        if let reason = reasonForNotKnowing { throw .unreachable(reason) }
        return found
    }

    /// Why it is not known what the domain has; nil if it is known.
    private var reasonForNotKnowing: String? {
        lock.read { access in
            guard !copies.allSatisfy({ access[$0.state].isKnown }) else { return nil }
            if case .unreachable(let reason) = service.state(access) { return reason }
            return "The settings service has not answered yet."
        }
    }

    /// The value of what was found; nil if nothing was found.
    func value<Value>(
        of found: Found, as key: DefaultsKey<Value>
    ) throws(DefaultsError) -> Value? {
        guard let entry = found.entry else { return nil }
        if key.coding.isShared, let decoded = entry.decoded as? Decoded<Value> {
            return decoded.value
        }
        let value: Value
        switch entry.content {
        case .archive(let bytes):
            let (read, isFilled) = try read(bytes, of: entry, as: key)
            // Another key, or another read, may fill the fields with other values.
            guard !isFilled else { return read }
            value = read
        case .large:
            guard let bytes = try fetch(entry, of: key, in: found.spelling ?? name) else {
                return nil
            }
            // A large value is not kept in memory. The next read fetches it again.
            return try read(bytes, of: entry, as: key).value
        case .argument(let word):
            value = try argument(word, of: key)
        }
        if key.coding.isShared { entry.keep(Decoded(value)) }
        return value
    }

    /// The value of an entry, whose bytes are here.
    func read<Value>(_ entry: Entry, as key: DefaultsKey<Value>) throws(DefaultsError) -> Value {
        try value(of: Found(entry: entry), as: key) ?? key.defaultValue
    }

    /// The value of an entry's bytes, and whether fields of it come from the key's default.
    ///
    /// If there is no value, the entry keeps the bytes.
    private func read<Value>(
        _ bytes: [UInt8], of entry: Entry, as key: DefaultsKey<Value>
    ) throws(DefaultsError) -> (value: Value, isFilled: Bool) {
        do {
            let read = try value(of: KeyedArchive(validating: bytes), as: key)
            entry.noteRead(by: key.holder)
            return read
        } catch {
            entry.noteUnread(Entry.Unread(reader: key.holder, bytes: bytes))
            throw .undecodable(key.id, in: name, error)
        }
    }

    /// The value of an archive, also if that says a type which the key does not know.
    private func value<Value>(
        of archive: KeyedArchive, as key: DefaultsKey<Value>
    ) throws -> (value: Value, isFilled: Bool) {
        do {
            return try key.value(of: archive)
        } catch {
            guard let plain = archive.withoutExactType else { throw error }
            return try key.value(of: plain)
        }
    }

    private func fetch(
        _ entry: Entry, of key: AnyDefaultsKey, in spelling: String
    ) throws(DefaultsError) -> [UInt8]? {
        do {
            return try service.fetch(key.id, in: spelling)
        } catch {
            // The service's own thread cannot fetch. That says nothing about the value.
            if !isOnServiceThread {
                entry.noteUnread(Entry.Unread(reader: key.holder, bytes: nil))
            }
            throw error
        }
    }

    private func argument<Value>(
        _ word: String, of key: DefaultsKey<Value>
    ) throws(DefaultsError) -> Value {
        for archive in ArgumentDomain.archives(of: word) {
            if let read = try? key.value(of: archive) { return read.value }
        }
        throw .notOfType(Value.self, argument: key.id)
    }

    /// Reports each value that cannot be read, once.
    private func report(_ error: DefaultsError, reading key: AnyDefaultsKey, _ found: Found) {
        guard found.entry?.takeReport() == true else { return }
        failures.tell(
            DefaultsFailure(
                action: .read, keys: [key.id], domain: found.spelling ?? name, error: error))
    }

    func isLocked(_ name: KeyName) -> Bool {
        service.makeCurrent(copies)
        let known = lock.read { access -> Bool? in
            guard let own = access[own.state].isLocked(name) else { return nil }
            guard let global else { return own }
            return access[global.state].isLocked(name).map { own || $0 }
        }
        return known ?? (try? service.isLocked(name, in: own.name)) ?? false
    }
}

/// Keeping values that the application could not read and replaces.
///
/// The same change stores the old value under another key: `GameOptions (unreadable)`, or `GameOptions
/// (unreadable 2)` and so on if that key has another value. A value that is removed is not kept.
extension Store {
    /// A value that is replaced without having been read, and the key under which it is kept.
    struct KeptValue {
        let key: KeyName
        let name: KeyName
        let entry: Entry
    }

    /// The values to keep when a layer is changed.
    ///
    /// - Throws: ``DefaultsError`` if a value was never fetched, so it cannot be kept.
    func keptValues(
        replacedBy entries: [KeyName: Entry?], in copy: DomainCopy, _ layer: LayerName,
        _ access: borrowing ReadAccess
    ) throws(DefaultsError) -> [KeptValue] {
        var kept: [KeptValue] = []
        var names: [KeyName: Entry] = [:]
        // Sorted, so that the same change gives the same names.
        for key in entries.keys.sorted() {
            guard case let entry?? = entries[key],
                let unread = access[copy.state].entry(key, in: layer)?.unread(replacedBy: entry)
            else { continue }
            guard let bytes = unread.bytes else {
                throw .notFetched(key, in: copy.name)
            }
            let value = Entry(.archive(bytes))
            let name = sideName(of: key) { name in
                // Long names that begin alike are cut to the same one.
                if let other = names[name] { return other.isSame(as: value) }
                // What the change itself removes stays removed.
                if let change = entries[name] { return change?.isSame(as: value) ?? false }
                return access[copy.state].entry(name, in: layer)?.isSame(as: value) ?? true
            }
            names[name] = value
            kept.append(KeptValue(key: key, name: name, entry: value))
        }
        return kept
    }

    /// Notes that a key has read its value in a layer after all.
    func noteRead(_ key: AnyDefaultsKey, in layer: DefaultsLayer) {
        guard let (copy, copyLayer) = place(of: layer) else { return }
        let entry = lock.read { $0[copy.state].entry(key.id, in: copyLayer) }
        entry?.noteRead(by: key.holder)
    }

    /// Whether a layer has a value that a new one replaces although its key could not read it.
    func hasUnread(_ name: KeyName, replacedBy entry: Entry, in layer: DefaultsLayer) -> Bool {
        guard let (copy, copyLayer) = place(of: layer) else { return false }
        let present = lock.read { $0[copy.state].entry(name, in: copyLayer) }
        return present?.unread(replacedBy: entry) != nil
    }

    /// The first name that can have the value.
    private func sideName(of key: KeyName, suits: (KeyName) -> Bool) -> KeyName {
        var number = 1
        while !suits(key.unreadable(number)) { number += 1 }
        return key.unreadable(number)
    }
}

extension KeyName {
    /// The name under which the value of a key is kept that could not be read.
    fileprivate func unreadable(_ number: Int) -> KeyName {
        let suffix = number == 1 ? " (unreadable)" : " (unreadable \(number))"
        var start = string[...]
        while start.utf8.count + suffix.utf8.count > KeyRule.maximumLength { start.removeLast() }
        return KeyName(start + suffix)
    }
}
