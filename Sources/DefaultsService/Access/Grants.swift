import DBus
import DefaultsFiles
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import KeyedArchive

/// What is granted to programs in a sandbox, beyond the domains of their own applications.
///
/// The grants are values of the domain `org.defaultsd.Grants`. Each key is an application ID, or `*`
/// for all programs in a sandbox. Each value is a dictionary with the lists `read` and `write` of
/// domain patterns. A grant that cannot be read grants nothing.
struct Grants {
    /// How many applications are remembered.
    private static let most = 256

    /// By application.
    ///
    /// They are read again after the grants have changed.
    private var scopes: [String?: AccessScope] = [:]

    /// The scope of an application, if it has been read.
    func scope(ofApplication application: String?) -> AccessScope? { scopes[application] }

    /// Notes what has been read.
    mutating func note(_ scope: AccessScope, ofApplication application: String?) {
        if scopes.count >= Self.most { scopes = [:] }
        scopes[application] = scope
    }

    /// Forgets everything if a domain has the grants.
    mutating func noteChange(of domain: Domain) {
        if domain.name == GrantTerms.domain { scopes = [:] }
    }

    /// The keys that apply to an application.
    static func keys(of application: String?) -> [Key] {
        [application, GrantTerms.everybody].compactMap { $0.flatMap { try? Key($0) } }
    }

    /// The patterns in a grant.
    ///
    /// What is no pattern grants nothing.
    static func patterns(_ access: GrantTerms.Access, of grant: Value) -> [DomainPattern] {
        guard case .array(_, let elements) = grant.entry(access.rawValue) else { return [] }
        return elements.compactMap { element in
            guard case .string(let text) = element.withoutVariant else { return nil }
            return try? DomainPattern(text)
        }
    }
}

extension DefaultsObject {
    /// What an application in a sandbox may use.
    func scope(ofApplication application: String?) -> AccessScope {
        if let known = grants.scope(ofApplication: application) { return known }
        var scope = AccessScope(ofApplication: application)
        for key in Grants.keys(of: application) {
            guard let grant = policy(key, in: GrantTerms.domain) else { continue }
            scope.grant(
                reading: Grants.patterns(.read, of: grant),
                changing: Grants.patterns(.write, of: grant))
        }
        grants.note(scope, ofApplication: application)
        return scope
    }
}
