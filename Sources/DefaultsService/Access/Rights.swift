import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsTerms
import Logging

/// What programs in a sandbox may use, and what they were refused.
///
/// The grants are values of the domain `org.defaultsd.Grants`. Each key is an application ID, or `*`
/// for all programs in a sandbox. Each value is a dictionary with the lists `read` and `write` of
/// domain patterns. A grant that cannot be read grants nothing.
final class Rights {
    /// How many applications are remembered.
    private static let most = 256

    private let logger: Logger
    /// By application.
    ///
    /// They are read again after the grants have changed.
    private var scopes: [String?: AccessScope] = [:]
    private var refusals = RefusalLog()

    init(logger: Logger) {
        self.logger = logger
    }

    // MARK: Scopes

    /// The scope of a program; nil if it may use everything.
    ///
    /// Programs that may not call at all were refused when they were identified.
    ///
    /// - Parameter grant: Reads the grant of a key.
    func scope(of access: CallerAccess, _ grant: (Key) -> Value?) -> AccessScope? {
        switch access {
        case .full: nil
        case .none: AccessScope(ofApplication: nil)
        case .confined(let application): scope(ofApplication: application, grant)
        }
    }

    private func scope(ofApplication application: String?, _ grant: (Key) -> Value?) -> AccessScope
    {
        if let known = scopes[application] { return known }
        var scope = AccessScope(ofApplication: application)
        for key in [application, GrantTerms.everybody].compactMap({ $0.flatMap { try? Key($0) } }) {
            guard let grant = grant(key) else { continue }
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
    private static func patterns(_ access: GrantTerms.Access, of grant: Value) -> [DomainPattern] {
        guard case .array(_, let elements) = grant.entry(access.rawValue) else { return [] }
        return elements.compactMap { element in
            guard case .string(let text) = element.withoutVariant else { return nil }
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
    func noteRefusal(of member: MemberName, to application: String?, about domain: Domain?) {
        refusals.note(application, member, domain, logger)
    }

    /// Notes that a bound was reached.
    func noteRefusal(because quota: QuotaUse) { refusals.note(quota, logger) }
}
