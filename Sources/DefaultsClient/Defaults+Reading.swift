import KeyedArchive

/// Reading.
extension Defaults {
    /// What holds for a key: the value of the strongest layer that has one, or the key's default.
    ///
    /// Setting it sets the user's own value, which holds at once where the administrator prescribes no
    /// other. It is sent to the service in the background; what is refused goes back to what it was,
    /// and ``failures`` tells of it.
    @inlinable
    public subscript<Value>(key: DefaultsKey<Value>) -> Value {
        get {
            // What is held under the key is of its type: the store has compared the classes.
            if let held = store.held(key) {
                return unsafeDowncast(held, to: Decoded<Value>.self).value
            }
            return store.value(of: key)
        }
        nonmutating set { store.set(newValue, for: key) }
    }

    /// What holds for a key, or why that cannot be told.
    ///
    /// - Throws: ``ClientError`` with `unreachable` where a large value cannot be fetched, and with
    ///   `forked` in a forked process; `DecodingError` and whatever the type's own `init(from:)` throws
    ///   where the value is none of the key's type.
    public func value<Value>(of key: DefaultsKey<Value>) throws -> Value {
        try store.readValue(of: key)
    }

    /// What one layer has for a key; nil where it has nothing.
    ///
    /// - Throws: As ``value(of:)``.
    public func value<Value>(of key: DefaultsKey<Value>, in layer: DefaultsLayer) throws -> Value? {
        try store.readValue(of: key, in: layer)
    }

    /// Whether a layer has a value for a key: the user's own, unless told otherwise.
    public func isSet(_ key: DefaultsKeys, in layer: DefaultsLayer = .domain) -> Bool {
        !Fork.isChild && store.find(key.id, in: layer).entry != nil
    }

    /// Where the value of a key comes from; nil where it is the key's own default.
    public func layer(of key: DefaultsKeys) -> DefaultsLayer? {
        Fork.isChild ? nil : store.find(key.id).layer
    }

    /// Whether the administrator has locked a key, so that changes of it are refused.
    ///
    /// Where nobody can be asked it is not.
    public func isLocked(_ key: DefaultsKeys) -> Bool {
        !Fork.isChild && store.isLocked(key.id)
    }

    /// The names of the keys that a layer has, or that any layer of the service has or is registered.
    ///
    /// - Returns: The names, sorted by code point.
    public func keys(in layer: DefaultsLayer? = nil) -> [String] {
        guard !Fork.isChild else { return [] }
        return store.names(in: layer).sorted().map(\.string)
    }
}
