package import DefaultsModel
import DefaultsProtocol

/// Names in calls.
///
/// They are checked when they are read.
package struct CheckedNames: TransactionNames {
    /// A program in a sandbox, and what it may change.
    package struct Limit {
        let scope: AccessScope
        let application: String?
        /// Called with a domain that it may not change.
        let noteRefusal: @Sendable (Domain) -> Void

        /// Limits what names a call may have.
        package init(
            scope: AccessScope, application: String?,
            noteRefusal: @escaping @Sendable (Domain) -> Void
        ) {
            self.scope = scope
            self.application = application
            self.noteRefusal = noteRefusal
        }
    }

    /// The machines that suffixes may name.
    private let hosts: HostNames
    /// For the domains that are to be changed; nil if all may be changed.
    private let limit: Limit?

    /// - Parameters:
    ///   - hosts: The machines that suffixes may name.
    ///   - limit: For the domains that are to be changed; nil if all may be changed.
    package init(hosts: HostNames, limit: Limit? = nil) {
        self.hosts = hosts
        self.limit = limit
    }

    package func domain(_ text: String) throws -> Domain {
        let domain = try Domain(text, on: hosts)
        if let limit, !limit.scope.mayChange(domain) {
            limit.noteRefusal(domain)
            throw ContractError(confined: limit.application, changing: domain, on: hosts)
        }
        return domain
    }

    package func key(_ text: String) throws -> Key { try Key(text) }

    package func expectation(_ key: String, _ generation: UInt64) throws -> Expectation {
        try Expectation(key, generation)
    }

    package func token(_ text: String) throws -> Token { try Token(text) }
}

/// Names in calls about applications.
///
/// Suffixes are not allowed.
package struct ApplicationNames: NameReading {
    /// Makes a reader of names.
    package init() {}

    package func domain(_ text: String) throws -> Domain { try Domain(ofApplication: text) }

    package func key(_ text: String) throws -> Key { try Key(text) }
}
