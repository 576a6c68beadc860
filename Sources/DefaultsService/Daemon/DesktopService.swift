import DBus
import DefaultsDconf
import DefaultsModel
import DefaultsPortal
import DefaultsXfconf

/// A service of a desktop, which this daemon can be for unmodified programs.
package enum DesktopService: String, CaseIterable, Sendable {
    /// The settings service of Xfce.
    case xfconf
    /// The service of dconf, for programs that use its library.
    case dconf
    /// A backend of the Settings portal, which programs in a sandbox read.
    case portal

    /// The name on the bus that programs call.
    var busName: BusName {
        switch self {
        case .xfconf: Xfconf.busName
        case .dconf: Dconf.busName
        case .portal: Portal.busName
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
        case .portal:
            SignalAddress(
                members: [Portal.settingChanged.name], interface: Portal.interface,
                path: Portal.objectPath)
        }
    }

    /// Whether a change of a key has a signal of its own.
    ///
    /// Programs of dconf hear of changes when their file has them.
    var hasSignalsOfKeys: Bool { self != .dconf }

    /// Whether a domain may have keys whose changes have signals of their own.
    func mayHave(_ domain: Domain) -> Bool {
        switch self {
        case .xfconf: domain.name.hasPrefix(ChannelName.prefix)
        case .dconf: false
        case .portal: domain.name == Portal.namespace
        }
    }

    /// Whether programs see a key of such a domain.
    func mayHave(_ key: Key) -> Bool {
        switch self {
        case .xfconf: PropertyName.isProperty(key)
        case .dconf: false
        case .portal: AppearanceKey(rawValue: key.name) != nil
        }
    }
}
