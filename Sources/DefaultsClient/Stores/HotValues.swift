import Synchronization

/// The values that were read last.
///
/// A read finds them without a look into a copy. A change of the copies empties it.
struct HotValues: ~Copyable {
    /// How to see that a copy is still current: a counter, and its greatest value.
    struct Watch: Equatable, @unchecked Sendable {
        let counter: Counter.Word
        let generation: UInt64

        var holds: Bool { Counter.value(of: counter) <= generation }
    }

    private static let count = 64

    /// The keys and their values, by place.
    ///
    /// Keys are compared without counting references.
    private var identities = [ObjectIdentifier?](repeating: nil, count: count)
    private var keys = [AnyDefaultsKey?](repeating: nil, count: count)
    private var values = [AnyDecoded?](repeating: nil, count: count)
    private var isEmpty = true
    private var own: Watch?
    private var global: Watch?
    /// Keeps the counters mapped.
    private var counters: [Counter] = []

    /// The value of a key, if it is here and nothing has changed since.
    func value(of key: AnyDefaultsKey) -> AnyDecoded? {
        let place = Self.place(of: key)
        guard let own, own.holds, global?.holds != false, identities[place] == ObjectIdentifier(key)
        else { return nil }
        return values[place]
    }

    /// Takes a value that was found in copies that are current.
    mutating func put(
        _ value: AnyDecoded, for key: AnyDefaultsKey, own: DomainCopy, _ global: DomainCopy?,
        _ access: borrowing ReadAccess
    ) {
        // Without a page nothing would show that it is not current any more.
        guard let counter = access[own.state].counter else { return }
        counters = [counter]
        if let global {
            guard let counter = access[global.state].counter else { return removeAll() }
            counters.append(counter)
            self.global = Watch(
                counter: counter.word, generation: access[global.state].generation)
        }
        self.own = Watch(counter: counter.word, generation: access[own.state].generation)
        let place = Self.place(of: key)
        identities[place] = ObjectIdentifier(key)
        keys[place] = key
        values[place] = value
        isEmpty = false
    }

    mutating func removeAll() {
        guard !isEmpty else { return }
        for place in identities.indices where identities[place] != nil {
            identities[place] = nil
            keys[place] = nil
            values[place] = nil
        }
        own = nil
        isEmpty = true
    }

    /// Keys live long and at different addresses, so addresses serve as hashes.
    private static func place(of key: AnyDefaultsKey) -> Int {
        let address = UInt(bitPattern: ObjectIdentifier(key))
        return Int((address >> 4 ^ address >> 10) % UInt(count))
    }
}
