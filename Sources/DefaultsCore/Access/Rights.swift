package import DefaultsModel
import DefaultsTerms
import Logging

/// What programs in a sandbox may use, and what they were refused.
///
/// The grants are values of the domain `org.defaultsd.Grants`. Each key is an application ID, or `*`
/// for all programs in a sandbox. Each value is a dictionary with the lists `read` and `write` of
/// domain patterns. A grant that cannot be read grants nothing.
package final class Rights {
    /// How many applications are remembered.
    private static let most = 256

    private let policies: Policies
    private let logger: Logger
    /// By application.
    ///
    /// They are read again after the grants have changed.
    private var scopes: [String?: AccessScope] = [:]
    private var refusals = RefusalLog()

    init(by policies: Policies, logger: Logger) {
        self.policies = policies
        self.logger = logger
    }

    // MARK: Scopes

    /// The scope of a program; nil if it may use everything.
    ///
    /// Programs that may not call at all were refused when they were identified.
    package func scope(of access: CallerAccess) -> AccessScope? {
        switch access {
        case .full: nil
        case .none: AccessScope(ofApplication: nil)
        case .confined(let application): scope(ofApplication: application)
        }
    }

    private func scope(ofApplication application: String?) -> AccessScope {
        if let known = scopes[application] { return known }
        var scope = AccessScope(ofApplication: application)
        for key in [application, GrantTerms.everybody].compactMap({ $0.flatMap { try? Key($0) } }) {
            guard let grant = policies.value(of: key, in: GrantTerms.domain) else { continue }
            scope.grant(
                reading: Self.patterns(.read, of: grant),
                changing: Self.patterns(.write, of: grant))
        }
        if scopes.count >= Self.most { scopes = [:] }
        scopes[application] = scope
        return scope
    }

    /// The patterns in a grant.
    ///
    /// What is not a pattern grants nothing.
    private static func patterns(_ access: GrantTerms.Access, of grant: PolicyValue)
        -> [DomainPattern]
    {
        guard case .list(let elements) = grant[access.rawValue] else { return [] }
        return elements.compactMap { element in
            guard case .text(let text) = element else { return nil }
            return try? DomainPattern(text)
        }
    }

    /// Reads the grants again if a domain has them.
    func noteChange(of domain: Domain) {
        if domain.name == GrantTerms.domain { readAgain() }
    }

    /// Forgets the grants that were read.
    func readAgain() { scopes = [:] }

    // MARK: Refusals

    /// Notes that a program in a sandbox was refused a method.
    ///
    /// - Parameter domain: The domain that is outside of its scope; nil if the method is refused for all.
    package func noteRefusal(
        of method: String, to application: String?, about domain: Domain?
    ) {
        refusals.note(application, method, domain, logger)
    }

    /// Notes that a bound was reached.
    func noteRefusal(because quota: QuotaUse) { refusals.note(quota, logger) }
}
