/// The changes of the value of a key, for one consumer.
///
/// It keeps one change at most: a slow consumer gets a change from the value that it saw last to the
/// newest one. It ends when its task is cancelled.
public struct ValueChanges<Value>: AsyncSequence, Sendable {
    /// Iterates over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: ChangeFeed
        fileprivate let key: DefaultsKey<Value>

        /// The next change; nil when the task is cancelled.
        public mutating func next() async -> ValueChange<Value>? {
            await feed.nextChange(of: key)
        }
    }

    fileprivate let feed: ChangeFeed
    fileprivate let key: DefaultsKey<Value>

    /// Begins the iteration with the changes since the sequence was made.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed, key: key)
    }
}

extension Defaults {
    /// The value of a key, now and after each change, for one consumer.
    ///
    /// A slow consumer gets the newest value. The sequence ends when its task is cancelled.
    public struct Values<Value>: AsyncSequence, Sendable {
        /// Iterates over the values.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let feed: ChangeFeed
            fileprivate let key: DefaultsKey<Value>
            fileprivate var isFirst = true

            /// The next value; nil when the task is cancelled.
            ///
            /// The first value comes at once.
            public mutating func next() async -> Value? {
                if isFirst {
                    isFirst = false
                    await feed.store.load()
                    // The value that is read now contains the changes so far.
                    feed.discard()
                    return feed.store.value(of: key)
                }
                return await feed.nextChange(of: key)?.newValue
            }
        }

        fileprivate let feed: ChangeFeed
        fileprivate let key: DefaultsKey<Value>

        /// Begins the iteration with the present value.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(feed: feed, key: key)
        }
    }
}

/// The changes of a domain's keys, for one consumer.
///
/// It keeps one change of each key at most, the newest. It ends when its task is cancelled.
public struct DomainChanges: AsyncSequence, Sendable {
    /// Iterates over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: ChangeFeed

        /// The next change; nil when the task is cancelled.
        public mutating func next() async -> DomainChange? {
            await feed.next().map { DomainChange($0, of: feed.store) }
        }
    }

    fileprivate let feed: ChangeFeed

    /// Begins the iteration with the changes since the sequence was made.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed)
    }
}

/// The registration of an observer, which ends with the last reference.
final class ChangeFeed: Sendable {
    let store: Store
    private let observer: Observer

    /// - Parameters:
    ///   - names: The keys; nil for all.
    ///   - store: The store that has them.
    ///   - onChange: Called after each change.
    init(of names: Set<KeyName>?, in store: Store, onChange: (@Sendable () -> Void)? = nil) {
        self.store = store
        observer = Observer(of: names, onChange: onChange)
    }

    /// A registration that has begun.
    static func begun(of names: Set<KeyName>?, in store: Store) -> ChangeFeed {
        let feed = ChangeFeed(of: names, in: store)
        feed.begin()
        return feed
    }

    /// Begins to report changes.
    func begin() {
        store.begin(observer)
    }

    /// The next change that was not fetched; nil if there is none.
    func takeNext() -> SeenChange? {
        guard !Fork.isChild else { return nil }
        return store.lock.change { access in observer.takeNext(access) }
    }

    /// How many changes were not fetched.
    var waiting: Int {
        Fork.isChild ? 0 : store.lock.read { access in observer.waiting(access) }
    }

    /// Drops the changes that were not fetched.
    func discard() {
        guard !Fork.isChild else { return }
        store.lock.change { access in observer.discard(access) }
    }

    func next() async -> SeenChange? {
        guard !Fork.isChild else { return nil }
        return await observer.next(store.lock)
    }

    /// The next change of a key's value.
    ///
    /// Changes of the layer or of the archive that leave the value the same are skipped.
    func nextChange<Value>(of key: DefaultsKey<Value>) async -> ValueChange<Value>? {
        while let seen = await next() {
            let (change, isNone) = store.values(of: seen, as: key)
            if !isNone { return change }
        }
        return nil
    }

    deinit {
        guard !Fork.isChild else { return }
        store.remove(observer)
    }
}

/// Observing.
extension Defaults {
    /// The changes of the value of a key, made by any process in any layer.
    ///
    /// ```swift
    /// for await change in defaults.changes(of: .playSound) where !change.isFromThisProcess {
    ///     speaker.isMuted = !change.newValue
    /// }
    /// ```
    ///
    /// A change that leaves the value the same is not reported, for example if a user sets the default.
    /// Your own changes are reported once, when you make them.
    ///
    /// This does not wait. If the domain was not read yet, it is read in the background, and what others
    /// have changed until then is not reported. ``load()`` waits for that.
    public func changes<Value>(of key: DefaultsKey<Value>) -> ValueChanges<Value> {
        ValueChanges(feed: .begun(of: [key.id], in: store), key: key)
    }

    /// The changes of some keys, made by any process in any layer.
    ///
    /// ```swift
    /// for await change in defaults.changes(of: [.playSound, .playMusic]) { print(change.key) }
    /// ```
    ///
    /// For everything else, see ``changes(of:)-(DefaultsKey<Value>)``.
    public func changes(of keys: [AnyDefaultsKey]) -> DomainChanges {
        DomainChanges(feed: .begun(of: Set(keys.map(\.id)), in: store))
    }

    /// The changes of all keys, in all layers that the domain's values come from.
    ///
    /// ```swift
    /// for await change in defaults.changes() {
    ///     if let change = change.values(of: .playSound) { show(change.newValue) }
    /// }
    /// ```
    ///
    /// For everything else, see ``changes(of:)-(DefaultsKey<Value>)``.
    public func changes() -> DomainChanges {
        DomainChanges(feed: .begun(of: nil, in: store))
    }

    /// The value of a key, now and after each change.
    ///
    /// This does not wait. The first value waits for the service as ``load()`` does, and does not block a
    /// thread.
    public func values<Value>(of key: DefaultsKey<Value>) -> Values<Value> {
        Values(feed: .begun(of: [key.id], in: store), key: key)
    }

    /// The values of several keys, now and after each change of one of them.
    ///
    /// ```swift
    /// for await (sound, music) in defaults.values(of: .playSound, .playMusic) {
    ///     mixer.isMuted = !sound && !music
    /// }
    /// ```
    ///
    /// Keys that were changed together, for example by ``apply(in:_:)``, may come as several elements,
    /// the last of which has all new values.
    public func values<First, Second, each Rest>(
        of first: DefaultsKey<First>, _ second: DefaultsKey<Second>,
        _ rest: repeat DefaultsKey<each Rest>
    ) -> SeveralValues<First, Second, repeat each Rest> {
        SeveralValues(of: first, second, repeat each rest, in: store)
    }

    /// The failures of calls that do not throw, from now on.
    ///
    /// Each use makes a stream of its own, and each stream gets all failures of the domain. The newest 256
    /// are kept for a slow consumer. If there is no stream, each failure is printed as a line on standard
    /// error. The same line is printed once.
    ///
    /// ```swift
    /// for await failure in defaults.failures where failure.action == .write {
    ///     show("\(failure.keys) could not be changed: \(failure.error)")
    /// }
    /// ```
    public var failures: AsyncStream<DefaultsFailure> { store.failures.stream() }

    /// The state of the service.
    ///
    /// Before anything else was used, this begins to connect, and the result is `connecting`.
    public var state: DefaultsState {
        guard !Fork.isChild else { return .unreachable(DefaultsError.forked.message) }
        store.service.start()
        return store.lock.read { store.service.state($0) }
    }

    /// The state of the service, now and after each change of it.
    ///
    /// Each use makes a stream of its own.
    public var states: AsyncStream<DefaultsState> {
        store.service.states.stream { state }
    }
}
