internal import DBus
internal import DconfFiles
internal import DefaultsProtocol
package import KeyedArchive

/// Which domains programs of dconf see.
package enum DconfDomains {
    /// The domain that names all domains with settings of desktop programs, each as a key.
    ///
    /// The module for GSettings adds to it, and so do this service and the tool. So what belongs to dconf is
    /// known when a schema is not, and when dconf's file is lost.
    package static let record = "org.defaultsd.Dconf"

    /// The value of each of its keys.
    package static var recordValue: KeyedArchive {
        get throws { try VariantForm.archive(of: .boolean(true)) }
    }

    /// Whether a domain is never in dconf's file: it is one of this service, or of another interface.
    package static func isPrivate(_ domain: String) -> Bool {
        ["org.defaultsd", "xfconf"].contains { domain == $0 || domain.hasPrefix("\($0).") }
    }

    /// Whether all settings of a domain are in dconf's file.
    ///
    /// A domain of another program is not, so that the file stays small. It is as soon as a program has
    /// changed it by dconf's interface.
    ///
    /// - Parameter families: Those of the installed schemas. The paths of relocatable schemas are in them,
    ///   too.
    package static func arePublished(_ domain: String, families: Set<DomainFamily>) -> Bool {
        guard !isPrivate(domain) else { return false }
        return domain == SettingsPath.unnamedDomain
            || families.contains(DomainFamily(of: domain))
    }
}
