import Glibc
import SystemCalls

// Invariants
//
// 1. Every call that comes in is carried out or refused, or dropped with the connection, and what
//    waits is known to the schedule.
// 2. Where calls of a caller wait that is not open, the bus has been asked about it, or a timer is set
//    to ask, unless its first call was put back or is carried out on another thread, or all calls are
//    held.
// 3. Where somebody has a turn and the link takes calls, a turn of the loop is due; where somebody
//    rests, a timer is set for the end of that.

extension Connection {
    /// Prepares for the one caller of a connection without a bus.
    func expectPeer() {
        calls.peer = Caller(nil, .known(nil))
    }

    /// Has callers identified: from now on the calls of a new one wait, in their order and for as
    /// long as the bus takes to answer once, and ``MethodCall/credentials`` tells who it is.
    ///
    /// Without a bus that is the other end of the socket. Where the bus does not tell, the calls are
    /// carried out, and it is for the handler to decide what an unknown caller may do.
    ///
    /// - Parameter judge: Says why somebody may not call at all; nil where it may. It is asked once a
    ///   connection, on the loop's thread, before the first call. Every call of one that may not gets
    ///   the error, whatever the object and the method.
    package func identifyCallers(
        refusing judge: @escaping @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    ) {
        calls.judge = judge
        if let peer = calls.peer {
            identify(peer, as: link.socketCredentials)
        } else {
            calls.areIdentified = true
            // The bus answers in order: this is known before anything about a caller is.
            askWhereBusIs()
        }
    }

    func identify(_ caller: Caller<WaitingCall>, as credentials: PeerCredentials?) {
        var credentials = credentials
        if let place = credentials?.place {
            credentials?.isAtHome = place == ProcessPlace.own || place == calls.busPlace
        }
        caller.identify(as: credentials, refusal: calls.judge(credentials))
    }

    /// Whether nobody but this user, and root, can reach the bus: its socket is in a directory that is
    /// closed to all others.
    package var isBusPrivate: Bool {
        guard var path = link.peerPath?[...] else { return false }
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            guard let status = FileStatus.ifAny(path.isEmpty ? "/" : String(path)) else {
                return false
            }
            if status.owner == geteuid(), status.mode & 0o077 == 0 { return true }
        }
        return false
    }

    /// Takes a call that came in.
    func admit(_ message: borrowing Message) {
        guard let caller = calls.caller(of: message) else { return }
        if calls.table.takeRollCall() { askWhoIsThere() }
        if calls.schedule.isDue(caller, at: calls.now()) {
            carryOut(message, of: caller, inTurn: false)
        } else {
            wait(Message(retaining: message.pointer), of: caller)
        }
    }

    func carryOut(
        _ message: borrowing Message, of caller: Caller<WaitingCall>, inTurn: Bool
    ) {
        let start = calls.now()
        serve(message, from: caller)
        let end = calls.now()
        calls.schedule.note(end - start, of: caller, inTurn: inTurn, at: end)
    }
}

// MARK: Waiting

extension Connection {
    private func wait(_ message: consuming Message, of caller: Caller<WaitingCall>) {
        let load = load(of: message)
        let call = WaitingCall(message)
        guard makeRoom(for: load, of: caller) else {
            return refuse(call, of: caller, .tooMuchWaits)
        }
        calls.schedule.add(call, load, of: caller)
        proceed(with: caller)
        updatePause()
    }

    func load(of message: borrowing Message) -> CallSchedule<WaitingCall>.Load {
        .init(size: message.size, hasDescriptors: message.hasDescriptors)
    }

    /// Makes room for one call more: by turns, and where nobody has one, at the cost of the greediest.
    ///
    /// - Returns: Whether there is room, which there is not where it is the newcomer who must pay.
    private func makeRoom(
        for load: CallSchedule<WaitingCall>.Load, of newcomer: Caller<WaitingCall>
    ) -> Bool {
        while !calls.schedule.hasRoom(for: load) {
            if takeTurn() || calls.schedule.endRests(at: nil) { continue }
            let payer = calls.schedule.greediest(adding: load, of: newcomer)
            guard calls.schedule.isFull, payer !== newcomer,
                let last = calls.schedule.takeLast(of: payer)
            else { return false }
            refuse(last, of: payer, .tooMuchWaits)
        }
        return true
    }

    /// Brings a caller nearer to being served, of which calls may wait: gives it a turn, or asks about
    /// it what must be known.
    func proceed(with caller: Caller<WaitingCall>) {
        guard isOpen, caller.place.hasCalls else { return }
        if caller.isOpen {
            calls.schedule.giveTurn(to: caller)
            takeTurnsSoon()
        } else if !calls.schedule.isHeld, !caller.isPutOff {
            ask(about: caller)
        }
    }

    func refuse(_ call: WaitingCall, of caller: Caller<WaitingCall>, _ error: DBusError) {
        guard call.message.isReplyExpected, caller.replies.takeRefusal() else { return }
        sendError(error, to: call.message, from: caller)
    }

    func refuseAll(of caller: Caller<WaitingCall>, _ error: DBusError) {
        while let call = calls.schedule.takeFirst(of: caller) { refuse(call, of: caller, error) }
        noteCallsTaken()
    }
}
