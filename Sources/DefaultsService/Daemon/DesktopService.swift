import DBus
import DefaultsDconf
import DefaultsXfconf

/// A service of a desktop, which this daemon can be for unmodified programs.
package enum DesktopService: String, CaseIterable, Sendable {
    /// The settings service of Xfce.
    case xfconf
    /// The service of dconf, for programs that use its library.
    case dconf

    /// The name on the bus that programs call.
    var busName: BusName {
        switch self {
        case .xfconf: Xfconf.busName
        case .dconf: Dconf.busName
        }
    }

    /// The signals of the service, as match rules see them.
    var signals: SignalAddress {
        switch self {
        case .xfconf:
            SignalAddress(
                members: [Xfconf.propertyChanged.name, Xfconf.propertyRemoved.name],
                interface: Xfconf.interface, path: Xfconf.objectPath)
        case .dconf:
            SignalAddress(
                members: [Dconf.notify.name], interface: Dconf.interface, path: Dconf.writer)
        }
    }
}
