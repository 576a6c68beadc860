import Synchronization

/// The values that were read last, at hand without a look into any copy.
///
/// A store has one under a lock of its own, which is taken after the service's where both are. It says
/// nothing that the copies do not say: whoever changes what is found empties it.
struct HotValues: ~Copyable {
    /// What tells that a copy is current still: a counter and what it may not be above.
    private struct Watch {
        let counter: Counter.Word
        let generation: UInt64

        var holds: Bool { Counter.value(of: counter) <= generation }
    }

    private static let count = 64

    /// The keys and their values, by place.
    ///
    /// Keys are compared without counting references.
    private var identities = [ObjectIdentifier?](repeating: nil, count: count)
    private var keys = [DefaultsKeys?](repeating: nil, count: count)
    private var values = [AnyDecoded?](repeating: nil, count: count)
    private var isEmpty = true
    private var own: Watch?
    private var global: Watch?
    /// What keeps the counters mapped.
    private var counters: [Counter] = []

    /// The value of a key, if it is here and nothing has changed since.
    func value(of key: DefaultsKeys) -> AnyDecoded? {
        let place = Self.place(of: key)
        guard let own, own.holds, global?.holds != false, identities[place] == ObjectIdentifier(key)
        else { return nil }
        return values[place]
    }

    /// Takes a value that was found in copies that are current.
    mutating func put(
        _ value: AnyDecoded, for key: DefaultsKeys, own: DomainCopy, _ global: DomainCopy?
    ) {
        // Where there is no page, nothing would tell that it is not current any more.
        guard let counter = own.counter else { return }
        counters = [counter]
        if let global {
            guard let counter = global.counter else { return removeAll() }
            counters.append(counter)
            self.global = Watch(counter: counter.word, generation: global.generation)
        }
        self.own = Watch(counter: counter.word, generation: own.generation)
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

    /// Keys live long and lie apart, so that their addresses are as good as hashes.
    private static func place(of key: DefaultsKeys) -> Int {
        let address = UInt(bitPattern: ObjectIdentifier(key))
        return Int((address >> 4 ^ address >> 10) % UInt(count))
    }
}

/// Has tasks do something one after the other, in the order in which they come.
final class Turns: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [OneShot<Void>] = []
    }

    private let state = Mutex(State())

    /// Waits for one's turn, which lasts until ``end()``.
    ///
    /// - Throws: `CancellationError`, where there is no turn then.
    func begin() async throws {
        let turn = OneShot<Void>()
        let mustWait = state.withLock { state in
            defer { state.isTaken = true }
            if state.isTaken { state.waiting.append(turn) }
            return state.isTaken
        }
        guard mustWait else { return }
        do {
            try await turn.value()
        } catch {
            let isWaiting = state.withLock { state in
                let place = state.waiting.firstIndex { $0 === turn }
                return place.map { state.waiting.remove(at: $0) } != nil
            }
            // It came at the same moment, and is to go on to the next.
            if !isWaiting { end() }
            throw error
        }
    }

    /// Lets the next one begin.
    func end() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil as OneShot<Void>?
            }
            return state.waiting.removeFirst()
        }
        next?.resume(.success(()))
    }
}
