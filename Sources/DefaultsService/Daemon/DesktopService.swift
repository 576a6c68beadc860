import DBus
import DefaultsXfconf

/// A service of a desktop, which this daemon can be for unmodified programs.
package enum DesktopService: String, CaseIterable, Sendable {
    /// The settings service of Xfce.
    case xfconf

    /// The name on the bus that programs call.
    var busName: BusName {
        switch self {
        case .xfconf: Xfconf.busName
        }
    }

    /// The signals of the service, as match rules see them.
    var signals: SignalAddress {
        switch self {
        case .xfconf:
            SignalAddress(
                members: [Xfconf.propertyChanged.name, Xfconf.propertyRemoved.name],
                interface: Xfconf.interface, path: Xfconf.objectPath)
        }
    }
}
