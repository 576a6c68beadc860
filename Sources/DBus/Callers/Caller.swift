/// One sender of calls: what is known of it, and its calls that wait.
///
/// It belongs to the loop's thread.
final class Caller<Call> {
    /// Who it is, as far as that is asked for.
    enum Identity {
        case unknown
        /// Nil where nobody could tell.
        case known(PeerCredentials?)
    }

    /// Its unique name; nil for the peer of a connection without a bus.
    let name: BusName?

    private(set) var identity: Identity
    /// What each of its calls gets, if it may not call at all.
    private(set) var refusal: DBusError?
    /// Whose connection it is: one of its own as long as that is not known.
    var process = CallerProcess<Call>()
    /// What it has been sent and may not have read.
    var replies: UnreadReplies
    /// Whether the bus is being asked about it, or will be when a timer goes off.
    var isInQuestion = false
    /// Whether its first call was put back, to be carried out later, or is carried out on another
    /// thread.
    var isPutOff = false
    /// When it last sent a call, as a count of such occasions.
    var lastUse: UInt64 = 0

    /// Kept by the schedule alone.
    var place = CallSchedule<Call>.Place()

    init(
        _ name: BusName?, _ identity: Identity, _ replies: UnreadReplies = UnreadReplies()
    ) {
        self.name = name
        self.replies = replies
        self.identity = identity
    }

    /// Notes who it is, and whether it may call.
    func identify(as credentials: PeerCredentials?, refusal: DBusError?) {
        identity = .known(credentials)
        self.refusal = refusal
    }

    /// Whether it can be forgotten while it is connected, and identified again at its next call.
    ///
    /// One that is not at home can not: its process may end, and a process of ours get its
    /// number, while the connection lives on in a child.
    var isForgettable: Bool {
        // One that is put off may have a call on another thread, which a later one must not overtake.
        guard !place.hasCalls, !isPutOff else { return false }
        guard let credentials else { return true }
        return credentials.isAtHome
    }

    /// Whether its calls may be carried out.
    var isOpen: Bool {
        guard case .known = identity, !isPutOff else { return false }
        return replies.isOpen
    }

    var credentials: PeerCredentials? {
        guard case .known(let credentials) = identity else { return nil }
        return credentials
    }
}
