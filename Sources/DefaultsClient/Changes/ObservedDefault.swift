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
