import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import Glibc
import Logging
import Synchronization
import SystemCalls

// Invariants
//
// 1. The decision depends only on what was known about a connection before its first call. It stays
//    the same for the whole connection, and nothing is looked up again: the process may have ended
//    since, and another process may have its number.
// 2. Whatever is unknown is refused: all calls if the user is unknown, and what other applications
//    have stored if it is unknown in which namespaces the program runs.

/// What is known about a caller decides what it may do.
///
/// | caller | may |
/// |---|---|
/// | a process of another user, or of an unknown user | nothing |
/// | a process that left before it was identified, on a bus that other users can reach | nothing |
/// | a Flatpak or a snap | use the domains of its application, and what was granted to it |
/// | a process whose root directory, user or mount namespace differs from ours and the bus's | read the global domain, and use what was granted to all |
/// | a process that could not be examined | the same |
/// | any other process of this user | everything |
///
/// `SandboxedApplication` says how an application is known, and `AccessScope` what it may use.
extension CallerAccess {
    /// Looked up once, because every call asks.
    private static let ownUser = geteuid()

    /// - Parameters:
    ///   - credentials: What is known about the caller; nil if it left before it was identified.
    ///   - isBusPrivate: Whether other users cannot reach the bus. If so, an unidentified caller
    ///     belongs to this user.
    init(of credentials: PeerCredentials?, isBusPrivate: Bool) {
        guard let credentials else {
            self = isBusPrivate ? .confined(application: nil) : .none
            return
        }
        guard credentials.userID == Self.ownUser else {
            self = .none
            return
        }
        let isSnap = credentials.securityLabel?.hasPrefix("snap.") == true
        let isConfined = isSnap || credentials.application != nil || !credentials.isAtHome
        self = isConfined ? .confined(application: credentials.application) : .full
    }
}

extension BusFace {
    /// Who makes a call, as far as rights and bounds depend on it.
    func caller(of call: MethodCall) -> Caller {
        let access = access(of: call.credentials)
        let origin = call.sender?.string ?? call.connection.peerName
        let process = call.credentials?.processID
        let program: WriteRates.Program =
            switch access {
            case .confined(let application?): .application(application)
            case .confined(nil): .unknownApplication
            case .full, .none: process.map { .process($0) } ?? .connection(origin)
            }
        return Caller(access: access, program: program, origin: origin) { [examiner] in
            process.map(examiner.writer(in:))
        }
    }

    /// What a program may do that has been admitted; see `admitOwnUser(by:logger:)`.
    func access(of credentials: PeerCredentials?) -> CallerAccess {
        CallerAccess(of: credentials, isBusPrivate: true)
    }
}

extension Connection {
    /// Identifies callers, and refuses those that may not call at all.
    ///
    /// A caller that has left before it was identified does not get the error. So the log reports
    /// this, once.
    ///
    /// - Parameter examiner: Finds out who a process is.
    func admitOwnUser(by examiner: ProcessExaminer, logger: Logger) {
        let isBusPrivate = isBusPrivate
        let isReported = Atomic(false)
        identifyCallers(by: examiner) { credentials in
            let access = CallerAccess(of: credentials, isBusPrivate: isBusPrivate)
            guard case .none = access else { return nil }
            if credentials == nil, !isReported.exchange(true, ordering: .relaxed) {
                logger.notice(
                    """
                    A call was refused, because its program left the bus before its user was known. \
                    Wait for the reply, as 'dbus-send --print-reply' does.
                    """)
            }
            return DBusError(replying: ContractError.otherUser)
        }
    }
}

extension Connection {
    /// Connects to the callers to serve.
    ///
    /// To be called on the loop's thread.
    ///
    /// - Parameter completion: Called once, with a ``LifeCycleError`` if there is no bus or no peer. A
    ///   peer may call as soon as this has returned.
    static func open(
        to callers: DaemonOptions.Callers, on loop: EventLoop,
        completion: @escaping (Result<Connection, any Error>) -> Void
    ) {
        let report = { (opened: Result<Connection, any Error>) in
            completion(opened.mapError { LifeCycleError.nobodyToServe(callers, $0) })
        }
        switch callers {
        case .bus, .busReplacingOther: open(.session, on: loop, completion: report)
        case .peer(let descriptor):
            // The connection has a duplicate. This descriptor is closed, so that the end of the
            // peer is noticed.
            report(Result { try Connection(serving: FileDescriptor(owning: descriptor), on: loop) })
        }
    }

    /// Takes the name of the service.
    ///
    /// No other program can take it away: only this process gives it up, see ``HandOver``.
    ///
    /// - Throws: ``LifeCycleError`` if another program owns the name.
    func takeName() async throws {
        guard try await requestName([.doNotQueue]) else { throw LifeCycleError.nameTaken }
    }

    /// Requests the name.
    ///
    /// - Returns: Whether this connection owns the name now.
    func requestName(_ flags: NameFlags) async throws -> Bool {
        let reply = try await requestName(Contract.busName, flags)
        return reply == .primaryOwner || reply == .alreadyOwner
    }
}
