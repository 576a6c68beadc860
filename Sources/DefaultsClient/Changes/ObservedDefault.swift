public import Observation

/// A value of the defaults that observers can follow, whichever process changes it.
///
/// Use it alone, with `withObservationTracking` or `Observations`:
///
/// ```swift
/// let playSound = ObservedDefault(.playSound)
/// for await isOn in Observations({ playSound.value }) { show(isOn) }
/// ```
///
/// Or use it as a property of an `@Observable` class. `@ObservationIgnored` keeps the macro from
/// changing it:
///
/// ```swift
/// @Observable final class Options {
///     @ObservationIgnored @ObservedDefault(.playSound) var playSound
/// }
/// ```
///
/// Observers are called after the change, on the thread that has made or noticed it. For changes of other
/// processes that is the library's own thread, so `onChange` of `withObservationTracking` must not wait.
@propertyWrapper
public final class ObservedDefault<Value>: Observable, Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// The defaults that have the value.
    public let defaults: Defaults
    private let registrar = ObservationRegistrar()
    // Set once, in `init`; the feed needs a reference to this object.
    private nonisolated(unsafe) var feed: ChangeFeed?

    /// Makes an observed value of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - defaults: The defaults that have the value; by default the application's own at this moment.
    public init(_ key: DefaultsKey<Value>, in defaults: Defaults = .standard) {
        self.key = key
        self.defaults = defaults
        feed = ChangeFeed(of: [key.id], in: defaults.store) { [weak self] in
            self?.tell()
        }
        feed?.begin()
    }

    /// The value of the key.
    public var value: Value {
        get {
            registrar.access(self, keyPath: \.value)
            return defaults[key]
        }
        set { defaults[key] = newValue }
    }

    /// The value of the key.
    public var wrappedValue: Value {
        get { value }
        set { value = newValue }
    }

    /// The value of the key, for toolkits that want a getter: `Binding(get: $volume.get, set: $volume.set)`.
    public func get() -> Value { value }
    /// Sets the key, for toolkits that want a setter.
    public func set(_ value: Value) { self.value = value }

    /// The object itself.
    public var projectedValue: ObservedDefault { self }

    /// Called after the change, on the thread that has noticed it.
    private func tell() {
        feed?.discard()
        registrar.withMutation(of: self, keyPath: \.value) {}
    }
}

/// A property whose value is in the defaults.
///
/// ```swift
/// struct Mixer {
///     @Default(.playSound) var playSound
///
///     func mute() {
///         playSound = false
///         $playSound.reset()
///     }
/// }
/// ```
///
/// It reads and writes like ``Defaults/subscript(_:)``. A view that reads it is not updated when the value
/// changes; ``ObservedDefault`` is for that.
@propertyWrapper
public struct Default<Value>: Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// The defaults that have the value.
    public let defaults: Defaults

    /// Makes a property of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - defaults: The defaults that have the value; by default the application's own at this moment.
    public init(_ key: DefaultsKey<Value>, in defaults: Defaults = .standard) {
        self.key = key
        self.defaults = defaults
    }

    /// The value of the key.
    @inlinable public var wrappedValue: Value {
        get { defaults[key] }
        nonmutating set { defaults[key] = newValue }
    }

    /// The property itself, for what else it can do.
    public var projectedValue: Default { self }

    /// The value of the key, for toolkits that want a getter: `Binding(get: $volume.get, set: $volume.set)`.
    public func get() -> Value { wrappedValue }
    /// Sets the key, for toolkits that want a setter.
    public func set(_ value: Value) { wrappedValue = value }
    /// Whether the value is the key's default, or equal to it.
    public var isDefaultValue: Bool { defaults.isDefaultValue(key) }
    /// Removes the user's own value in the layer `domain`.
    public func reset() { defaults.reset(key) }
    /// Whether the user has a value of their own.
    public var isSet: Bool { defaults.isSet(key) }
    /// Whether the administrator has locked the key; see ``Defaults/isLocked(_:)``.
    public var isLocked: Bool { defaults.isLocked(key) }
    /// The layer that the value comes from; nil if it is the key's default.
    public var layer: DefaultsLayer? { defaults.layer(of: key) }
    /// The changes of the value.
    public var changes: ValueChanges<Value> { defaults.changes(of: key) }
    /// The value, now and after each change.
    public var values: Defaults.Values<Value> { defaults.values(of: key) }
}
