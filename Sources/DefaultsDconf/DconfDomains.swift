internal import DconfFiles

/// Which domains programs of dconf see.
package enum DconfDomains {
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
