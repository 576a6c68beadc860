extension Defaults {
    /// The values of several keys, now and after each change of one of them, for one consumer.
    ///
    /// A slow consumer gets the newest values. The sequence ends when its task is cancelled.
    public struct SeveralValues<First, Second, each Rest>: AsyncSequence, Sendable {
        /// The values, in the order of the keys.
        public typealias Element = (First, Second, repeat each Rest)

        /// Iterates over the values.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let sequence: SeveralValues
            fileprivate var isFirst = true

            /// The next values; nil when the task is cancelled.
            ///
            /// The first ones come at once.
            public mutating func next() async -> Element? {
                let feed = sequence.feed
                var isNone = false
                if isFirst {
                    isFirst = false
                    await feed.store.load()
                } else {
                    repeat {
                        guard let seen = await feed.next() else { return nil }
                        isNone = sequence.isNone(seen)
                    } while isNone
                }
                // The values that are read now contain all changes so far.
                feed.discard()
                return sequence.present
            }
        }

        fileprivate let feed: ChangeFeed
        private let first: DefaultsKey<First>
        private let second: DefaultsKey<Second>
        private let rest: (repeat DefaultsKey<each Rest>)

        init(
            of first: DefaultsKey<First>, _ second: DefaultsKey<Second>,
            _ rest: repeat DefaultsKey<each Rest>, in store: Store
        ) {
            self.first = first
            self.second = second
            self.rest = (repeat each rest)
            var names: Set<KeyName> = [first.id, second.id]
            repeat _ = names.insert((each rest).id)
            feed = .begun(of: names, in: store)
        }

        fileprivate var present: Element {
            let store = feed.store
            return (
                store.value(of: first), store.value(of: second),
                repeat store.value(of: each rest)
            )
        }

        /// Whether readers of the changed key see no difference.
        fileprivate func isNone(_ seen: SeenChange) -> Bool {
            var isNone = false
            func check<Value>(_ key: DefaultsKey<Value>) {
                guard key.id == seen.name else { return }
                isNone = feed.store.values(of: seen, as: key).isNone
            }
            check(first)
            check(second)
            repeat check(each rest)
            return isNone
        }

        /// Begins the iteration with the present values.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(sequence: self)
        }
    }
}
