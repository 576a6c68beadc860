/// The changes of what holds for a key, as they come, for one consumer.
///
/// It never holds more than one change: a consumer that is slow is given the newest value, together
/// with the one that it saw last. It ends when its task is cancelled.
public struct ValueChanges<Value>: AsyncSequence, Sendable {
    /// Fetches the changes, one after the other.
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

    /// Begins to fetch the changes; those since the sequence was made are not missed.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed, key: key)
    }
}

/// What holds for a key, now and after each change, for one consumer.
///
/// A consumer that is slow is given the newest value. It ends when its task is cancelled.
public struct Values<Value>: AsyncSequence, Sendable {
    /// Fetches the values, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: ChangeFeed
        fileprivate let key: DefaultsKey<Value>
        fileprivate var isFirst = true

        /// The next value, the first at once; nil when the task is cancelled.
        public mutating func next() async -> Value? {
            if isFirst {
                isFirst = false
                // What has changed by now is in what is read now.
                feed.discard()
                return feed.store.value(of: key)
            }
            return await feed.nextChange(of: key)?.newValue
        }
    }

    fileprivate let feed: ChangeFeed
    fileprivate let key: DefaultsKey<Value>

    /// Begins to fetch the values.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed, key: key)
    }
}

/// The changes of all keys of a domain, as they come, for one consumer.
///
/// Of each key it holds one change at most, the newest. It ends when its task is cancelled.
public struct DomainChanges: AsyncSequence, Sendable {
    /// Fetches the changes, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let feed: ChangeFeed

        /// The next change; nil when the task is cancelled.
        public mutating func next() async -> DomainChange? {
            await feed.next().map { DomainChange($0, of: feed.store) }
        }
    }

    fileprivate let feed: ChangeFeed

    /// Begins to fetch the changes; those since the sequence was made are not missed.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(feed: feed)
    }
}

/// What keeps an observer being told; the end of the last reference ends it.
final class ChangeFeed: Sendable {
    let store: Store
    private let observer: Observer

    /// - Parameter name: The key; nil for all.
    init(of name: KeyName?, in store: Store, onChange: (@Sendable () -> Void)? = nil) {
        self.store = store
        observer = Observer(of: name, onChange: onChange)
        store.begin(observer)
    }

    /// Forgets the changes that were not fetched.
    func discard() {
        guard !Fork.isChild else { return }
        store.lock.change { access in observer.discard(access) }
    }

    func next() async -> SeenChange? {
        await observer.next(store.lock)
    }

    /// The next change of a key's value.
    ///
    /// Where the value comes from, and how it is archived, may change without the value: these changes
    /// are passed over.
    func nextChange<Value>(of key: DefaultsKey<Value>) async -> ValueChange<Value>? {
        while let seen = await next() {
            let change = store.values(of: seen, as: key)
            guard let old = change.oldValue, key.coding.areSame(old, change.newValue) else {
                return change
            }
        }
        return nil
    }

    deinit {
        guard !Fork.isChild else { return }
        store.remove(observer)
    }
}

/// Changes as they come.
extension Defaults {
    /// The changes of what holds for a key, whichever process or layer they come from.
    ///
    /// ```swift
    /// for await change in defaults.changes(of: .playSound) where !change.isOwn {
    ///     speaker.isMuted = !change.newValue
    /// }
    /// ```
    ///
    /// Changes that leave the value the same are not reported, for example when a user sets the default.
    /// Your own changes are reported once, when you make them.
    public func changes<Value>(of key: DefaultsKey<Value>) -> ValueChanges<Value> {
        ValueChanges(feed: ChangeFeed(of: key.id, in: store), key: key)
    }

    /// What holds for a key, now and after each change.
    public func values<Value>(of key: DefaultsKey<Value>) -> Values<Value> {
        Values(feed: ChangeFeed(of: key.id, in: store), key: key)
    }

    /// The changes of all keys of the domain's search list.
    public func changes() -> DomainChanges {
        DomainChanges(feed: ChangeFeed(of: nil, in: store))
    }

    /// What went wrong behind calls that do not throw, from now on.
    ///
    /// The newest 256 are kept for a consumer that is slow. While nobody listens, failures are written
    /// to standard error, one line each, and the same line once.
    public var failures: AsyncStream<DefaultsFailure> { store.failures.stream() }

    /// How it is with the service.
    public var state: DefaultsState {
        Fork.isChild
            ? .unreachable(ClientError.forked.message)
            : store.lock.read { store.service.state($0) }
    }

    /// How it is with the service, now and after each change of that.
    public var states: AsyncStream<DefaultsState> {
        store.service.states.stream { state }
    }
}
