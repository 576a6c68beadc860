import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

// Invariants
//
// 1. A method reads by `view(for:of:)`, and reads the names in a change by `changingNames(for:)`. So
//    it cannot show or change what is outside of the caller's scope.
// 2. To a program in a sandbox, a domain outside of its scope is like one that does not exist. Only
//    a change is refused, in words that do not say whether the domain exists.

/// What the calls of programs in a sandbox may use.
extension DefaultsObject {
    /// The scope of a program; nil if it may use everything.
    ///
    /// Programs that may not call at all were refused when they were identified.
    func scope(of credentials: PeerCredentials?) -> AccessScope? {
        switch CallerAccess(of: credentials, isBusPrivate: true) {
        case .full: nil
        case .none: AccessScope(ofApplication: nil)
        case .confined(let application): scope(ofApplication: application)
        }
    }

    /// What a caller can read of a domain.
    ///
    /// - Parameter domain: The domain; nil for a method that reads many.
    func view(for call: MethodCall, of domain: Domain? = nil) -> DatabaseView {
        guard let scope = scope(of: call.credentials) else { return database.view }
        if let domain, !scope.mayRead(domain) {
            refusals.note(call.credentials?.application, call.member, domain, logger)
        }
        return database.view.limited(to: scope)
    }

    /// How the names in a call that changes something are read.
    func changingNames(for call: MethodCall) -> CheckedNames {
        guard let scope = scope(of: call.credentials) else { return names }
        let (application, member, loop) = (
            call.credentials?.application, call.member, connection.loop
        )
        // The names of a large call are read on another thread.
        let note: @Sendable (Domain) -> Void = { domain in
            loop.perform {
                self.assumeIsolated { $0.refusals.note(application, member, domain, $0.logger) }
            }
        }
        return CheckedNames(
            hosts: hosts,
            limit: .init(scope: scope, application: application, noteRefusal: note))
    }

    /// Refuses a program in a sandbox.
    func checkUnconfined(_ call: MethodCall) throws {
        guard case .full = CallerAccess(of: call.credentials, isBusPrivate: true) else {
            refusals.note(call.credentials?.application, call.member, nil, logger)
            throw ContractError(confined: call.member.string)
        }
    }
}
