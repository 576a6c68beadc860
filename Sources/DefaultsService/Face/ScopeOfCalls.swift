import DefaultsCore
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
extension BusFace {
    /// The scope of a program; nil if it may use everything.
    func scope(of credentials: PeerCredentials?) -> AccessScope? {
        settings.rights.scope(of: access(of: credentials))
    }

    /// What a caller can read of a domain.
    ///
    /// - Parameter domain: The domain; nil for a method that reads many.
    func view(for call: MethodCall, of domain: Domain? = nil) -> DatabaseView {
        guard let scope = scope(of: call.credentials) else { return store.view }
        if let domain, !scope.mayRead(domain) {
            settings.rights.noteRefusal(
                of: call.member.string, to: call.credentials?.application, about: domain)
        }
        return store.view.limited(to: scope)
    }

    /// How the names in a call that changes something are read.
    func changingNames(for call: MethodCall) -> CheckedNames {
        guard let scope = scope(of: call.credentials) else { return settings.names }
        let (application, method, loop) = (
            call.credentials?.application, call.member.string, connection.loop
        )
        // The names of a large call are read on another thread, and noted on this one.
        nonisolated(unsafe) let rights = settings.rights
        let note: @Sendable (Domain) -> Void = { domain in
            loop.perform { rights.noteRefusal(of: method, to: application, about: domain) }
        }
        return CheckedNames(
            hosts: hosts,
            limit: .init(scope: scope, application: application, noteRefusal: note))
    }

    /// Refuses a program in a sandbox.
    func checkUnconfined(_ call: MethodCall) throws {
        guard case .full = access(of: call.credentials) else {
            settings.rights.noteRefusal(
                of: call.member.string, to: call.credentials?.application, about: nil)
            throw ContractError(confined: call.member.string)
        }
    }
}
