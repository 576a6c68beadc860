public import Observation

/// A value of the defaults that tells observers of its changes, whichever process makes them.
///
/// Alone, with `withObservationTracking` or `Observations`:
///
/// ```swift
/// let playSound = ObservedDefault(.playSound)
/// for await isOn in Observations({ playSound.value }) { show(isOn) }
/// ```
///
/// In a class of `@Observable`, as a property that the macro leaves alone:
///
/// ```swift
/// @Observable final class Options {
///     @ObservationIgnored @ObservedDefault(.playSound) var playSound
/// }
/// ```
@propertyWrapper
public final class ObservedDefault<Value>: Observable, Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// Where its value is.
    public let defaults: Defaults
    private let registrar = ObservationRegistrar()
    // Set once, in `init`; the feed needs a reference to this object.
    private nonisolated(unsafe) var feed: ChangeFeed?

    /// Makes an observed value of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - defaults: Where the value is: the application's own, as it is now, unless told otherwise.
    public init(_ key: DefaultsKey<Value>, in defaults: Defaults = .standard) {
        self.key = key
        self.defaults = defaults
        feed = ChangeFeed(of: key.id, in: defaults.store) { [weak self] in
            self?.tell()
        }
    }

    /// What holds for the key.
    public var value: Value {
        get {
            registrar.access(self, keyPath: \.value)
            return defaults[key]
        }
        set { defaults[key] = newValue }
    }

    /// What holds for the key.
    public var wrappedValue: Value {
        get { value }
        set { value = newValue }
    }

    /// The object itself.
    public var projectedValue: ObservedDefault { self }

    /// Called after the change, on the thread that has seen it.
    private func tell() {
        registrar.withMutation(of: self, keyPath: \.value) {}
    }
}

/// A property that is a value of the defaults.
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
/// It reads and writes as ``Defaults/subscript(_:)`` does.
@propertyWrapper
public struct Default<Value>: Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// Where its value is.
    public let defaults: Defaults

    /// Makes a property of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - defaults: Where the value is: the application's own, as it is now, unless told otherwise.
    public init(_ key: DefaultsKey<Value>, in defaults: Defaults = .standard) {
        self.key = key
        self.defaults = defaults
    }

    /// What holds for the key.
    @inlinable public var wrappedValue: Value {
        get { defaults[key] }
        nonmutating set { defaults[key] = newValue }
    }

    /// The property's key, with what else can be done.
    public var projectedValue: Default { self }

    /// Removes the user's own value.
    public func reset() { defaults.reset(key) }
    /// Whether the user has a value of their own.
    public var isSet: Bool { defaults.isSet(key) }
    /// Whether the administrator has locked the key.
    public var isLocked: Bool { defaults.isLocked(key) }
    /// Where the value comes from; nil where it is the key's default.
    public var layer: DefaultsLayer? { defaults.layer(of: key) }
    /// The changes of the value.
    public var changes: ValueChanges<Value> { defaults.changes(of: key) }
    /// The value, now and after each change.
    public var values: Values<Value> { defaults.values(of: key) }
}
