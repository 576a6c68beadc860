// Invariants
//
// 1. A caller that expects a reply gets exactly one; one that expects none gets none.
// 2. A call that is let go of without an answer answers `Failed`, unless it was put back.
// 3. The message is touched and let go of on the loop's thread only.
// 4. Nothing from outside leads to a second answer: not the end of the connection, and not a reply
//    that cannot be carried, which the handler may well answer by `fail`.

/// A call that came over the bus, to be answered once.
///
/// A handler gets it, and answers at once or later:
///
/// ```swift
/// Method("Add", in: [Argument("a", "i"), Argument("b", "i")], out: [Argument("sum", "x")]) { call in
///     let (a, b) = try call.arguments { (try $0.readInt32(), try $0.readInt32()) }
///     try call.reply { try $0.writeInt64(Int64(a) + Int64(b)) }
/// }
/// ```
///
/// It is not `Sendable`: it belongs to the loop's thread, and an actor on the loop may keep it.
package final class MethodCall {
    /// The path that was called.
    package let path: ObjectPath
    /// The interface of the method that was called.
    package let interface: InterfaceName
    /// The method that was called.
    package let member: MemberName
    /// Whether the caller waits for an answer.
    package let isReplyExpected: Bool
    /// Whether the call has been answered.
    package private(set) var isAnswered = false
    /// Whether the answer was the error of a reply that could not be written.
    private var isReplyRefused = false

    /// The connection that the call came over.
    package let connection: Connection
    private let caller: Caller<WaitingCall>
    private let outputSignature: Signature
    private var message: Message?

    init(
        _ message: consuming Message, from caller: Caller<WaitingCall>, to method: Method,
        of interface: InterfaceName, at path: ObjectPath, on connection: Connection
    ) {
        self.caller = caller
        self.path = path
        self.interface = interface
        self.connection = connection
        member = method.name
        outputSignature = method.outputSignature
        isReplyExpected = message.isReplyExpected
        self.message = consume message
    }

    deinit {
        let answer = isAnswered ? nil : DBusError.unanswered
        guard let message = message.take() else { return }
        connection.dispose(of: message, from: caller, answering: answer)
    }

    /// The unique name of the caller; nil only on a connection without a bus.
    package var sender: BusName? { caller.name }

    /// Who the caller is; nil if the connection does not ask for it
    /// (``Connection/identifyCallers(refusing:)``), or if the bus does not say.
    package var credentials: PeerCredentials? { caller.credentials }

    /// Reads the arguments, whose types have been checked against the declaration.
    ///
    /// - Throws: What the closure throws.
    package func arguments<Result>(
        _ read: (inout MessageReader) throws -> Result
    ) throws -> Result {
        try withMessage { message in
            var reader = MessageReader(message)
            return try read(&reader)
        }
    }

    /// Answers the call with what a closure writes.
    ///
    /// The closure is not called if no reply is expected. It is no error if the connection has ended: then
    /// nothing is sent.
    ///
    /// A second answer is a mistake in the program and traps, and so is a reply of other types than
    /// the declared ones.
    ///
    /// - Throws: What the closure throws, or ``DBusError`` if D-Bus cannot carry the reply. In both cases
    ///   the caller has been answered with that error, and a further answer does nothing. So ``fail(_:)``
    ///   may be called for every error, also for one that this has thrown.
    package func reply(_ write: (inout MessageWriter) throws -> Void = { _ in }) throws {
        do {
            try replyIfWritten(write)
        } catch {
            fail(error)
            isReplyRefused = true
            throw error
        }
    }

    /// Answers the call with what a closure writes, as ``reply(_:)`` does, but leaves it unanswered if the
    /// closure throws, so that it may be put back.
    ///
    /// - Throws: What the closure throws, and then the call is unanswered; or ``DBusError`` if D-Bus cannot
    ///   carry the reply, and then the caller has been answered with that error.
    package func replyIfWritten(_ write: (inout MessageWriter) throws -> Void) throws {
        guard isReplyExpected, !isReplyRefused else {
            _ = takeAnswer()
            return
        }
        try withMessage { message in
            let reply = try Message.reply(to: message)
            try self.reply(reply, MessageWriter.write(to: reply, write))
        }
    }

    /// Answers the call with an error.
    ///
    /// - Parameter error: An ``ErrorReply``, which names itself. Any other becomes `Failed`, and its
    ///   text stays here.
    ///
    /// After a ``reply(_:)`` that threw, the caller has its answer, and this does nothing. After one
    /// that did not throw it is a second answer, and traps.
    package func fail(_ error: any Error) {
        if takeAnswer() { sendError(error) }
    }

    /// Puts the call back, to come to its handler again as a new call after
    /// ``Connection/resumePostponedCalls()``.
    ///
    /// Further calls of its caller wait with it, so that their order is kept; others are served. This
    /// one has come to its end: it is neither answered nor read any more.
    package func postpone() {
        precondition(!isAnswered, "\(interface).\(member) was answered, and then put back.")
        isAnswered = true
        guard let message = message.take() else {
            preconditionFailure("A method call was put back after its end.")
        }
        connection.calls.postpone(message, of: caller)
    }

    /// How many bytes the call takes up on the wire.
    package var size: Int { withMessage { $0.size } }

    /// Has the call carried out on another thread: its arguments are read there, and its reply is
    /// written there.
    ///
    /// Further calls of its caller wait until ``DetachedCall/end(_:)``, so that their order is kept;
    /// others are served.
    ///
    /// - Throws: ``DBusError`` if there is no memory for a reply.
    package func detach() throws -> DetachedCall {
        let detached = try withMessage { message in
            DetachedCall(
                self, Message(retaining: message.pointer), reply: try Message.reply(to: message))
        }
        connection.calls.noteDetached(caller)
        return detached
    }

    /// Ends the work on another thread, and answers.
    fileprivate func endDetached(_ answer: () -> Void) {
        connection.calls.endDetached(caller, answer)
    }

    /// Answers the call with a reply that is written already, as ``reply(_:)`` does.
    fileprivate func reply(_ reply: borrowing Message, _ written: MessageWriter.Written) throws {
        guard takeAnswer() else { return }
        precondition(
            written.signature == outputSignature,
            "\(interface).\(member) is declared to reply '\(outputSignature)', "
                + "not '\(written.signature)'.")
        do {
            try connection.sendAnswer(reply, written, to: caller)
        } catch {
            isReplyRefused = true
            sendError(error)
            throw error
        }
    }

    /// Takes the one answer.
    ///
    /// - Returns: Whether it is to be sent.
    private func takeAnswer() -> Bool {
        if isReplyRefused { return false }
        precondition(!isAnswered, "\(interface).\(member) was answered twice.")
        isAnswered = true
        return isReplyExpected
    }

    private func sendError(_ error: any Error) {
        withMessage { connection.sendError(DBusError(replying: error), to: $0, from: caller) }
    }

    private func withMessage<Result>(
        _ body: (borrowing Message) throws -> Result
    ) rethrows -> Result {
        connection.loop.preconditionOnLoop("a method call was used")
        switch message {
        case .some(let message): return try body(message)
        case .none: preconditionFailure("A method call was used after its end.")
        }
    }
}

// Invariants of a call that is carried out on another thread
//
// 1. One thread at a time uses it: the loop's, then the other one, then the loop's again.
// 2. The message that came in is let go of on the loop's thread, for libdbus counts it against the
//    connection without a lock. The reply belongs to no connection before it is sent.

/// A call that is carried out on another thread than the loop's.
///
/// ```swift
/// let detached = try call.detach()
/// worker.perform {
///     let result = Result { try detached.write { try $0.writeStrings(names()) } }
///     loop.perform {
///         detached.end { call in
///             do {
///                 try result.get()
///                 try detached.sendReply()
///             } catch {
///                 call.fail(error)
///             }
///         }
///     }
/// }
/// ```
///
/// It is `@unchecked Sendable` because of invariant 1.
package final class DetachedCall: @unchecked Sendable {
    private let call: MethodCall
    /// What came in; nil from the end on.
    private var message: Message?
    private let reply: Message
    private var written: MessageWriter.Written?

    init(_ call: MethodCall, _ message: consuming Message, reply: consuming Message) {
        self.call = call
        self.message = consume message
        self.reply = reply
    }

    /// Reads the arguments, whose types have been checked against the declaration.
    ///
    /// - Throws: What the closure throws.
    package func arguments<Result>(
        _ read: (inout MessageReader) throws -> Result
    ) throws -> Result {
        switch message {
        case .some(let message):
            var reader = MessageReader(message)
            return try read(&reader)
        case .none: preconditionFailure("A method call was used after its end.")
        }
    }

    /// Writes the reply, once; ``sendReply()`` sends it.
    ///
    /// - Throws: What the closure throws, or ``DBusError`` if D-Bus cannot carry the reply.
    package func write(_ body: (inout MessageWriter) throws -> Void) throws {
        written = try MessageWriter.write(to: reply, body)
    }

    /// Answers the call with the reply that was written; on the loop's thread.
    ///
    /// - Throws: As ``MethodCall/reply(_:)``.
    package func sendReply() throws {
        guard let written else { preconditionFailure("A reply was sent that was not written.") }
        try call.reply(reply, written)
    }

    /// Ends the work on another thread; on the loop's thread.
    ///
    /// - Parameter answer: Answers the call, keeps it to answer later, or puts it back. The caller's
    ///   further calls go on after that.
    package func end(_ answer: (MethodCall) -> Void) {
        message = nil
        call.endDetached { answer(call) }
    }
}

extension DBusError {
    /// The error that a caller gets for an error of ours.
    package init(replying error: any Error) {
        let reply = error as? any ErrorReply ?? DBusError.unexplained
        self.init(reply.errorName, reply.errorMessage, details: reply.errorDetails)
    }
}
