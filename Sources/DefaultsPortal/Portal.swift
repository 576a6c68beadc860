package import DBus

/// The interface of a backend of the Settings portal.
///
/// The portal, xdg-desktop-portal, is what programs call. It asks its backends for the settings.
package enum Portal {
    /// The name on the bus of this backend.
    package static let busName: BusName = "org.freedesktop.impl.portal.desktop.defaultsd"

    /// The object of every backend.
    package static let objectPath: ObjectPath = "/org/freedesktop/portal/desktop"

    /// The portal itself: its name, and the interface that programs call at the same path.
    package static let frontEnd: (name: BusName, interface: InterfaceName) = (
        "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Settings"
    )

    /// The interface of backends with settings.
    package static let interface: InterfaceName = "org.freedesktop.impl.portal.Settings"

    /// The version of the interface.
    package static let version: UInt32 = 1

    /// The only namespace of this backend, which is also the name of the domain.
    ///
    /// Every program in a sandbox reads what a backend has, so it has nothing else.
    package static let namespace = "org.freedesktop.appearance"

    /// A setting has a new value.
    package static let settingChanged = SignalDeclaration(
        "SettingChanged", [.namespace, .key, .value])

    /// A method of the interface: its name and its arguments.
    package struct Declaration: Sendable {
        /// The member name, such as `Read`.
        package let name: MemberName
        /// The arguments that the caller sends.
        package let input: [Argument]
        /// The arguments that the reply returns.
        package let output: [Argument]
    }

    package static let read = Declaration(
        name: "Read", input: [.namespace, .key], output: [.value])
    package static let readAll = Declaration(
        name: "ReadAll", input: [Argument("namespaces", "as")],
        output: [Argument("value", "a{sa{sv}}")])
}

extension Argument {
    fileprivate static let namespace = Argument("namespace", "s")
    fileprivate static let key = Argument("key", "s")
    fileprivate static let value = Argument("value", "v")
}

/// A pattern of `ReadAll`: a namespace, or the beginning of one and `*`.
///
/// The empty text means all namespaces.
package enum NamespacePattern {
    /// Whether a pattern covers the namespace of this backend.
    package static func covers(_ pattern: String) -> Bool {
        guard pattern.utf8.last == UInt8(ascii: "*") else {
            return pattern.isEmpty || pattern == Portal.namespace
        }
        return Portal.namespace.utf8.starts(with: pattern.utf8.dropLast())
    }
}

/// The error for a setting that has no value here.
///
/// The portal asks its next backend then.
package struct SettingNotFound: ErrorReply, Hashable {
    /// Makes the error.
    package init() {}

    /// The name on the bus.
    package var errorName: ErrorName { "org.freedesktop.portal.Error.NotFound" }
    /// The message for people.
    package var errorMessage: String { "This setting has no value in defaultsd." }
}
