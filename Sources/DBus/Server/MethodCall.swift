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
public final class MethodCall {
    /// The path that was called.
    public let path: ObjectPath
    /// The interface of the method that was called.
    public let interface: InterfaceName
    /// The method that was called.
    public let member: MemberName
    /// Whether the caller waits for an answer.
    public let isReplyExpected: Bool
    /// Whether the call has been answered.
    public private(set) var isAnswered = false
    /// Whether the answer was the error of a reply that could not be written.
    private var isReplyRefused = false

    let connection: Connection
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
    public var sender: BusName? { caller.name }

    /// Who the caller is; nil where that is not asked for (``Connection/identifyCallers(refusing:)``) or could
    /// not be learned.
    public var credentials: PeerCredentials? { caller.credentials }

    /// Reads the arguments, whose types have been checked against the declaration.
    ///
    /// - Throws: What the closure throws.
    public func arguments<Result>(
        _ read: (inout MessageReader) throws -> Result
    ) throws -> Result {
        try withMessage { message in
            var reader = MessageReader(message)
            return try read(&reader)
        }
    }

    /// Answers the call with what a closure writes.
    ///
    /// The closure is not called where no reply is expected. Where the connection has ended, nobody
    /// is there to be answered, and that is no error.
    ///
    /// A second answer is a mistake in the program and traps, and so is a reply of other types than
    /// the declared ones.
    ///
    /// - Throws: What the closure throws, or ``DBusError`` where D-Bus cannot carry the reply. The
    ///   caller has been answered with that error then, and a further answer does nothing: it is
    ///   right to call ``fail(_:)`` for whatever was thrown, here or before.
    public func reply(_ write: (inout MessageWriter) throws -> Void = { _ in }) throws {
        guard takeAnswer() else { return }
        do {
            try withMessage { message in
                let reply = try Message.reply(to: message)
                let written = try MessageWriter.write(to: reply, write)
                precondition(
                    written.signature == outputSignature,
                    "\(interface).\(member) is declared to reply '\(outputSignature)', "
                        + "not '\(written.signature)'.")
                try connection.sendAnswer(reply, weight: written.weight, to: caller)
            }
        } catch {
            isReplyRefused = true
            sendError(error)
            throw error
        }
    }

    /// Answers the call with an error.
    ///
    /// - Parameter error: An ``ErrorReply``, which names itself. Any other becomes `Failed`, and its
    ///   text stays here.
    ///
    /// After a ``reply(_:)`` that threw, the caller has its answer, and this does nothing. After one
    /// that did not throw it is a second answer, and traps.
    public func fail(_ error: any Error) {
        if takeAnswer() { sendError(error) }
    }

    /// Puts the call back, to come to its handler again as a new call after
    /// ``Connection/resumePostponedCalls()``.
    ///
    /// Further calls of its caller wait with it, so that their order is kept; others are served. This
    /// one has come to its end: it is neither answered nor read any more.
    public func postpone() {
        precondition(!isAnswered, "\(interface).\(member) was answered, and then put back.")
        isAnswered = true
        guard let message = message.take() else {
            preconditionFailure("A method call was put back after its end.")
        }
        // The caller and the message stay on this thread.
        nonisolated(unsafe) let (pointer, caller) = (message.relinquish(), caller)
        connection.assumeIsolated { $0.postpone(Message(owned: pointer), of: caller) }
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

extension DBusError {
    /// What a caller is told of an error.
    public init(replying error: any Error) {
        let reply = error as? any ErrorReply ?? DBusError.unexplained
        self.init(reply.errorName, reply.errorMessage)
    }
}
