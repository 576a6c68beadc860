import DBus
import DefaultsProtocol
import Glibc
import Logging
import Synchronization

// Invariants
//
// 1. The decision depends only on what was learned of a connection before its first call. It holds
//    for as long as the connection does, and nothing is looked up again: the process may have ended
//    since, and another process have its number.
// 2. What is not known closes: no user, no call; no place, no page.

/// What a caller may do, by who it is.
///
/// | caller | may |
/// |---|---|
/// | a process of another user, or nobody's | nothing |
/// | one that had left the bus before it was known, on a bus that others can reach | nothing |
/// | a snap, by its label | all but `Attach` and `Maintenance1` |
/// | one with another root directory, user or mount namespace than ours and the bus's | the same |
/// | one that could not be looked at | the same |
/// | any other process of this user | everything |
enum CallerAccess {
    /// Nothing.
    case none
    /// Everything but what shows or changes the service as a whole.
    case confined
    /// Everything.
    case full

    /// - Parameters:
    ///   - credentials: What is known of the caller; nil if it had left by then.
    ///   - isBusPrivate: Whether other users cannot reach the bus, so that one who is not known is of
    ///     this user.
    init(of credentials: PeerCredentials?, isBusPrivate: Bool) {
        guard let credentials else {
            self = isBusPrivate ? .confined : .none
            return
        }
        guard credentials.userID == geteuid() else {
            self = .none
            return
        }
        let isSnap = credentials.securityLabel?.hasPrefix("snap.") == true
        self = isSnap || !credentials.isAtHome ? .confined : .full
    }
}

extension Connection {
    /// Has callers identified, and those refused who may not call at all.
    ///
    /// The log says so once of a caller that had left: nobody else would ever tell its user.
    func admitOwnUser(logger: Logger) {
        let isBusPrivate = isBusPrivate
        let isTold = Atomic(false)
        identifyCallers { credentials in
            let access = CallerAccess(of: credentials, isBusPrivate: isBusPrivate)
            guard access == .none else { return nil }
            if credentials == nil, !isTold.exchange(true, ordering: .relaxed) {
                logger.notice(
                    """
                    A program sent a call and left the bus before it was known whose it is, and was \
                    refused. Wait for the reply, as 'dbus-send --print-reply' does.
                    """)
            }
            return DBusError(replying: DefaultsError.otherUser)
        }
    }
}

extension DefaultsObject {
    /// Refuses a caller who is confined.
    func checkUnconfined(_ call: MethodCall) throws {
        // Whoever may not call at all has been refused before.
        guard CallerAccess(of: call.credentials, isBusPrivate: true) == .full else {
            throw DefaultsError(confined: call.member.string)
        }
    }
}
