/// A step from one version of an application's defaults to the next.
///
/// ```swift
/// try await defaults.migrate([
///     DefaultsMigration(to: 1) { changes in
///         guard changes.isSet(.loudness) else { return }
///         changes[.volume] = Double(changes[.loudness]) / 10
///         changes.reset(.loudness)
///     },
///     DefaultsMigration(to: 2) { changes in changes[.playMusic] = changes[.playSound] },
/// ])
/// ```
///
/// See ``Defaults/migrate(_:)``.
public struct DefaultsMigration: Sendable {
    /// The version that the domain has after the step, 1 or more.
    public let version: Int
    let run: @Sendable (inout Changes) throws -> Void

    /// Makes a step.
    ///
    /// - Parameters:
    ///   - version: The version that the domain has after the step, 1 or more.
    ///   - run: Changes what earlier versions have left. It may be called several times, of which one
    ///     counts, and has no other effect than its changes.
    public init(
        to version: Int, _ run: @escaping @Sendable (_ changes: inout Changes) throws -> Void
    ) {
        precondition(version > 0, "The version before the first step is 0.")
        self.version = version
        self.run = run
    }
}

extension DefaultsMigration {
    /// What a step reads and changes: the user's own values in the domain.
    ///
    /// What the administrator prescribes, what is registered, and what stands on the command line of
    /// this run are not seen, or they would be stored as if the user had chosen them.
    public struct Changes {
        private let store: Store
        private(set) var entries: [KeyName: Entry?] = [:]
        /// What a subscript could not say.
        private(set) var failure: (any Error)?

        init(of store: Store) {
            self.store = store
        }

        /// The user's own value of a key, or the key's default where there is none.
        ///
        /// A value that is none of the key's type, or cannot be archived, ends the step: nothing is
        /// changed, and ``Defaults/migrate(_:)`` throws the reason.
        public subscript<Value>(key: DefaultsKey<Value>) -> Value {
            mutating get { trying { try $0.value(of: key) } ?? key.defaultValue }
            set {
                trying { changes in
                    changes.entries.updateValue(try Entry(newValue, of: key), forKey: key.id)
                }
            }
        }

        private func value<Value>(of key: DefaultsKey<Value>) throws -> Value? {
            guard let entry = entries[key.id] else {
                return try store.readValue(of: key, in: .domain)
            }
            return try store.value(of: Found(entry: entry), as: key)
        }

        @discardableResult
        private mutating func trying<Result>(_ body: (inout Self) throws -> Result?) -> Result? {
            do {
                return try body(&self)
            } catch {
                failure = failure ?? error
                return nil
            }
        }

        /// Whether the user has a value of their own.
        public func isSet(_ key: DefaultsKeys) -> Bool {
            entries[key.id].map { $0 != nil } ?? (store.find(key.id, in: .domain).entry != nil)
        }

        /// The names of the keys of which the user has a value of their own, sorted by code point.
        public var keys: [String] {
            var names = store.names(in: .domain)
            for (name, entry) in entries {
                if entry == nil { names.remove(name) } else { names.insert(name) }
            }
            return names.sorted().map(\.string)
        }

        /// Removes the user's own value of a key.
        public mutating func reset(_ key: DefaultsKeys) {
            entries.updateValue(nil, forKey: key.id)
        }
    }
}
