/// Questions to the bus about callers, and about what they have not read.
extension Connection {
    /// Asks what must be known before the next call of a caller is carried out; one thing at a time.
    func ask(about caller: Caller<WaitingCall>) {
        guard !caller.isInQuestion, let name = caller.name else { return }
        switch caller.identity {
        case .unknown:
            caller.isInQuestion = true
            askWhoIs(caller, name)
        case .known where callers.areRepliesMeasured:
            caller.isInQuestion = true
            caller.replies.noteQuestion()
            askWhatIsUnread(by: caller, name)
        case .known:
            caller.replies = UnreadReplies(patience: callers.patience)
            calls.proceed(with: caller)
        }
    }

    /// Notes that something was sent, if the bus can say later whether it was read.
    ///
    /// - Parameter caller: Whose call it answers; nil for a signal.
    func noteSent(_ weight: Int, to caller: Caller<WaitingCall>?) {
        guard callers.areRepliesMeasured, !link.isDirect else { return }
        caller?.replies.note(weight)
        callers.updateUnreadTotal { $0.note(weight) }
        if callers.unreadTotal.isQuestionDue(at: calls.now()) { askWhatIsUnreadOfAll() }
    }

    /// Whether others have left so much unread of what this connection has sent that it should send as
    /// little as it can.
    ///
    /// Above a limit of its own, the bus stops reading from the connection.
    package var isLargelyUnread: Bool { callers.unreadTotal.level != .low }

    /// Refuses a large reply for which there is no room at the bus, or here.
    ///
    /// - Parameter size: The bytes of the reply. Descriptors do not count: the reply to `Attach` has one,
    ///   and a program that gets none does not know its settings.
    func checkRoom(
        forReplyOf size: Int, to caller: Caller<WaitingCall>
    ) throws(DBusError) {
        guard size > UnreadTotal.smallReply else { return }
        guard !link.isDirect else {
            guard calls.makeRoom(forReplyOf: size, to: self) else { throw .tooMuchIsUnread }
            return
        }
        switch callers.unreadTotal.level {
        case .low: return
        case .high: try checkShare(of: caller)
        case .full: throw .tooMuchIsUnread
        }
    }

    /// Refuses a large reply to a process whose connections together leave too much unread.
    private func checkShare(of caller: Caller<WaitingCall>) throws(DBusError) {
        let others = callers.table.all.filter { $0.process === caller.process }
        guard others.reduce(0, { $0 + $1.replies.unproven }) > UnreadTotal.share else { return }
        // It may have read it, and has not been asked since.
        for other in others where !other.replies.isOpen { ask(about: other) }
        throw .repliesUnread
    }

    // MARK: Who it is

    /// Identifies connections that may never have called.
    ///
    /// - Parameter completion: Called once with what is known about each, in their order.
    func identify(
        _ names: [BusName], completion: @escaping ([PeerCredentials?]) -> Void
    ) {
        let answers = Answers(names.count, completion)
        for (index, name) in names.enumerated() {
            let caller = callers.caller(named: name, on: self)
            if case .known(let credentials) = caller.identity {
                answers.note(credentials, at: index)
                continue
            }
            caller.whenAsked.append { answers.note($0, at: index) }
            guard !caller.isInQuestion else { continue }
            caller.isInQuestion = true
            askWhoIs(caller, name)
        }
    }

    /// Gathers answers, and passes them on when there are all.
    private final class Answers {
        private var answers: [PeerCredentials?]
        private var missing: Int
        private let completion: ([PeerCredentials?]) -> Void

        init(_ count: Int, _ completion: @escaping ([PeerCredentials?]) -> Void) {
            answers = Array(repeating: nil, count: count)
            missing = count
            self.completion = completion
            if count == 0 { completion([]) }
        }

        func note(_ answer: PeerCredentials?, at index: Int) {
            answers[index] = answer
            missing -= 1
            if missing == 0 { completion(answers) }
        }
    }

    private func askWhoIs(_ caller: Caller<WaitingCall>, _ name: BusName) {
        askBus(Self.busInterface, "GetConnectionCredentials", about: name, replying: "a{sv}") {
            try PeerCredentials.Answer(reading: &$0, by: self.calls.examiner)
        } then: { result in
            switch result {
            case .failure(let error) where error.isPassing:
                caller.isInQuestion = false
                caller.endQuestion(nil)
                self.askAgain(about: caller, in: .seconds(1))
            // A caller that has sent a call and left, as a shell's one-liner does, is unknown.
            case .failure: self.conclude(nil, about: caller)
            case .success(let answer):
                if answer.isProcessCertain || answer.credentials.place == nil {
                    self.conclude(answer.credentials, about: caller)
                } else {
                    self.askWhetherThere(caller, name, answer.credentials)
                }
            }
        }
    }

    /// Asks the bus about itself.
    ///
    /// Its process is alive, because it answers.
    func askWhereBusIs() {
        askBus(Self.busInterface, "GetConnectionCredentials", about: .bus, replying: "a{sv}") {
            try PeerCredentials.Answer(reading: &$0, by: self.calls.examiner)
        } then: { answer in
            self.calls.busPlace = (try? answer.get())?.credentials.place
        }
    }

    /// Asks whether a caller is still connected, if its process was identified by its number alone.
    ///
    /// The process that connected may have ended, and another process may have got its number. Then the
    /// connection has ended, too, unless a child of the process holds it.
    private func askWhetherThere(
        _ caller: Caller<WaitingCall>, _ name: BusName, _ credentials: PeerCredentials
    ) {
        askBus(Self.busInterface, "NameHasOwner", about: name, replying: "b") {
            try $0.readBool()
        } then: { answer in
            var credentials = credentials
            if (try? answer.get()) != true { credentials.forgetProcess() }
            self.conclude(credentials, about: caller)
        }
    }

    private func conclude(_ credentials: PeerCredentials?, about caller: Caller<WaitingCall>) {
        caller.isInQuestion = false
        identify(caller, as: credentials, refusing: calls.judge)
        calls.proceed(with: caller)
    }

    /// Asks who is connected, so that callers that have left are forgotten.
    func askWhoIsThere() {
        askBus(Self.busInterface, "ListNames", about: nil, replying: "as") {
            try $0.readArray { try $0.readString() }
        } then: { answer in
            if let names = try? answer.get() { self.callers.table.forget(allBut: Set(names)) }
        }
    }

    // MARK: What it has not read

    private func askWhatIsUnread(by caller: Caller<WaitingCall>, _ name: BusName) {
        askBus(
            Self.busStatistics, "GetConnectionStats", about: name,
            replying: "a{sv}"
        ) {
            try Self.readUnread(&$0, "Outgoing")
        } then: { answer in
            caller.isInQuestion = false
            switch answer {
            case .success(let unread?):
                self.follow(caller.replies.take(unread: unread), for: caller)
            // A caller that has left leaves nothing unread.
            case .failure(let error) where error.isPassing || error.name == .nameHasNoOwner:
                self.follow(caller.replies.take(unread: 0), for: caller)
            case .success(nil), .failure: self.measureNoMore()
            }
        }
    }

    private func askWhatIsUnreadOfAll() {
        guard let name = uniqueName else { return }
        callers.unreadTotal.noteQuestion()
        askBus(
            Self.busStatistics, "GetConnectionStats", about: name,
            replying: "a{sv}"
        ) {
            try Self.readUnread(&$0, "Incoming")
        } then: { answer in
            let now = self.calls.now()
            switch answer {
            case .success(let unread?):
                self.callers.updateUnreadTotal { $0.take(unread: unread, at: now) }
            case .failure(let error) where error.isPassing:
                self.callers.updateUnreadTotal { $0.take(unread: nil, at: now) }
            case .success(nil), .failure: self.measureNoMore()
            }
        }
    }

    /// Reads what the bus keeps for a connection that has not read it (Outgoing), or of a connection
    /// for others that have not (Incoming); nil if the bus does not say.
    private static func readUnread(
        _ reader: inout MessageReader, _ direction: String
    ) throws -> Int? {
        var bytes: UInt32?
        var descriptors: UInt32 = 0
        try reader.readEntries { key, type, value in
            switch (key, type.string) {
            case (direction + "Bytes", "u"): bytes = try value.readUInt32()
            case (direction + "FDs", "u"): descriptors = try value.readUInt32()
            default: break
            }
        }
        return bytes.map { Int($0) + Int(descriptors) * MessageLimits.descriptorWeight }
    }

    private func follow(_ verdict: UnreadReplies.Verdict, for caller: Caller<WaitingCall>) {
        switch verdict {
        case .goOn: calls.proceed(with: caller)
        case .refuse: calls.refuseAll(of: caller, .repliesUnread)
        case .askAgain(let delay): askAgain(about: caller, in: delay)
        }
    }

    /// Leaves it to the bus to limit what it keeps for others: this bus does not say how much that is.
    ///
    /// dbus-broker counts it against the connections that do not read, and ends them.
    private func measureNoMore() {
        callers.areRepliesMeasured = false
        callers.updateUnreadTotal { $0 = UnreadTotal() }
        for caller in Array(calls.schedule.waitingCallers) { calls.proceed(with: caller) }
    }

    // MARK: Asking

    private func askAgain(about caller: Caller<WaitingCall>, in delay: Duration) {
        caller.isInQuestion = true
        // The timer goes off on this thread.
        nonisolated(unsafe) let caller = caller
        loop.schedule(after: delay) { [weak self] in
            caller.isInQuestion = false
            self?.assumeIsolated { connection in
                connection.calls.proceed(with: caller)
                if !caller.whenAsked.isEmpty { connection.ask(about: caller) }
            }
        }
    }

    static var busInterface: InterfaceName { "org.freedesktop.DBus" }
    static var busStatistics: InterfaceName { "org.freedesktop.DBus.Debug.Stats" }

    /// Asks the bus for facts, about a connection or about all, and calls a closure with them.
    ///
    /// - Parameter isAnsweredAtEnd: Whether the closure is called even if our own connection has
    ///   ended.
    func askBus<Answer>(
        _ interface: InterfaceName, _ member: MemberName, about name: BusName?,
        replying signature: Signature, isAnsweredAtEnd: Bool = false,
        read: @escaping (inout MessageReader) throws -> Answer,
        then take: @escaping (Result<Answer, DBusError>) -> Void
    ) {
        let target = Target(
            destination: .bus, path: "/org/freedesktop/DBus", interface: interface, member: member)
        func end(_ answer: Result<Answer, any Error>) {
            guard isAnsweredAtEnd || isOpen && link.isConnected else { return }
            take(answer.mapError { $0 as? DBusError ?? .unexplained })
        }
        post(
            target, number: pendingCalls.makeNumber(), timeout: callers.questionTimeout,
            write: { if let name { try $0.writeString(name.string) } },
            succeed: { reply in end(Result { try reply.read(as: signature, read) }) },
            fail: { end(.failure($0)) })
    }
}

extension DBusError {
    /// Whether the same question may be answered later.
    fileprivate var isPassing: Bool {
        [.timeout, .noMemory, .limitsExceeded].contains(name)
    }
}
