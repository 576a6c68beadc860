/// A part of a program that makes changes, such as a window, so that it recognises its own changes.
///
/// ```swift
/// let origin = DefaultsOrigin()
/// let defaults = Defaults.standard.from(origin)
/// defaults[.volume] = 0.3
/// for await change in defaults.changes(of: .volume) where change.origin != origin {
///     slider.value = change.newValue
/// }
/// ```
public struct DefaultsOrigin: Hashable, Sendable {
    private final class Identity: Sendable {}

    private let identity = Identity()

    /// Makes an origin that is equal only to its copies.
    public init() {}

    /// Whether both are copies of the same origin.
    public static func == (one: DefaultsOrigin, other: DefaultsOrigin) -> Bool {
        one.identity === other.identity
    }

    /// Adds the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(identity))
    }
}

/// Who has made a change.
enum ChangeSource: Sendable {
    /// Another process, or the service itself.
    case others
    /// This process, and the part of it if that is known.
    case thisProcess(DefaultsOrigin?)

    var isThisProcess: Bool {
        if case .thisProcess = self { true } else { false }
    }

    var origin: DefaultsOrigin? {
        if case .thisProcess(let origin) = self { origin } else { nil }
    }
}
