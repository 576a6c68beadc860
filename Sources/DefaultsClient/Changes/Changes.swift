/// A change of the value of a key.
public struct ValueChange<Value> {
    /// The value before; nil if it was a large value, which is not kept, or not of the key's type.
    public let oldValue: Value?
    /// The value now.
    public let newValue: Value
    /// Whether this process made the change.
    public let isFromThisProcess: Bool
    /// The part of this process that made the change, if it named itself by ``Defaults/from(_:)``.
    public let origin: DefaultsOrigin?
}

extension ValueChange: Sendable where Value: Sendable {}
extension ValueChange: Equatable where Value: Equatable {}

/// A change of one of a domain's keys.
///
/// ``values(of:)`` gives the values.
public struct DomainChange: Sendable {
    /// The name of the key.
    public let key: String
    /// Whether this process made the change.
    public var isFromThisProcess: Bool { seen.source.isThisProcess }
    /// The part of this process that made the change, if it named itself by ``Defaults/from(_:)``.
    public var origin: DefaultsOrigin? { seen.source.origin }
    /// The layer that the value comes from now; nil if no layer has one.
    public var layer: DefaultsLayer? { seen.new.layer }

    fileprivate let seen: SeenChange
    fileprivate let store: Store

    init(_ seen: SeenChange, of store: Store) {
        key = seen.name.string
        self.seen = seen
        self.store = store
    }

    /// The change with values of the key's type; nil if it is the change of another key.
    ///
    /// ```swift
    /// for await change in defaults.changes() {
    ///     if let change = change.values(of: .playSound) { show(change.newValue) }
    /// }
    /// ```
    public func values<Value>(of key: DefaultsKey<Value>) -> ValueChange<Value>? {
        key.id == seen.name ? store.values(of: seen, as: key).change : nil
    }
}

extension Store {
    /// The values of a change, of the key's type.
    ///
    /// - Returns: Also whether readers of the key see no difference. A reader gets the default for a
    ///   value that is not of the key's type.
    func values<Value>(
        of seen: SeenChange, as key: DefaultsKey<Value>
    ) -> (change: ValueChange<Value>, isNone: Bool) {
        let newValue = value(holding: seen.new, of: key)
        var (oldValue, readBefore): (Value?, Value?)
        if case .large = seen.old.entry?.content {
            readBefore = nil
        } else {
            do {
                oldValue = try value(of: seen.old, as: key) ?? key.defaultValue
                readBefore = oldValue
            } catch {
                readBefore = key.defaultValue
            }
        }
        return (
            ValueChange(
                oldValue: oldValue, newValue: newValue,
                isFromThisProcess: seen.source.isThisProcess, origin: seen.source.origin),
            isNone: readBefore.map { key.coding.areSame($0, newValue) } ?? false
        )
    }
}
