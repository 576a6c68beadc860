import DefaultsTerms

/// Values that the application could not read, and replaces.
///
/// They are kept under another key, in the same change: `GameOptions (unreadable)`, and if another
/// value is there already, `GameOptions (unreadable 2)` and so on. What is removed is not kept: that
/// was asked for.
extension Store {
    /// A value that is replaced unread, and the key under which it is kept.
    struct KeptValue {
        let key: KeyName
        let name: KeyName
        let entry: Entry
    }

    /// What has to be kept along with changes of a layer; under the lock.
    ///
    /// - Throws: ``ClientError`` if there is a value that was never fetched, so that nobody can keep it.
    func keptValues(
        replacedBy entries: [KeyName: Entry?], in copy: DomainCopy, _ layer: LayerName
    ) throws -> [KeptValue] {
        var kept: [KeptValue] = []
        var names: [KeyName: Entry] = [:]
        // In the order of the names, so that the same change gives the same names.
        for key in entries.keys.sorted() {
            guard case let entry?? = entries[key],
                let unread = copy.entry(key, in: layer)?.unread(replacedBy: entry)
            else { continue }
            guard let bytes = unread.bytes else { throw ClientError.notFetched(key, in: copy.name) }
            let value = Entry(.archive(bytes))
            let name = sideName(of: key) { name in
                // Long names that begin alike are cut to the same one.
                if let other = names[name] { return other.isSame(as: value) }
                // What the change itself removes stays removed.
                if let change = entries[name] { return change?.isSame(as: value) ?? false }
                return copy.entry(name, in: layer)?.isSame(as: value) ?? true
            }
            names[name] = value
            kept.append(KeptValue(key: key, name: name, entry: value))
        }
        return kept
    }

    /// Notes that a key's value in a layer has been read after all.
    func noteRead(_ key: DefaultsKeys, in layer: DefaultsLayer) {
        guard let (copy, copyLayer) = place(of: layer) else { return }
        lock.reading {
            guard let entry = copy.entry(key.id, in: copyLayer) else { return }
            if entry.unread?.reader == key.holder { entry.unread = nil }
        }
    }

    /// Whether a layer has a value that a new one replaces though its key could not read it.
    func hasUnread(_ name: KeyName, replacedBy entry: Entry, in layer: DefaultsLayer) -> Bool {
        guard let (copy, copyLayer) = place(of: layer) else { return false }
        return lock.reading {
            copy.entry(name, in: copyLayer)?.unread(replacedBy: entry) != nil
        }
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
