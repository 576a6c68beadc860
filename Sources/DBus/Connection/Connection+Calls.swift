/// Calls to others.
extension Connection {
    /// Calls a method and reads its reply.
    ///
    /// - Parameters:
    ///   - destination: Who is called; nil only on a connection without a bus.
    ///   - timeout: How long to wait for the reply; nil waits until the connection ends.
    ///   - signature: The types that the reply must have; nil leaves it to what is read.
    ///   - body: Writes the arguments.
    ///   - read: Reads the reply, all of it, on the loop's thread.
    /// - Returns: What `read` made of the reply.
    /// - Throws: ``DBusError``: the callee's, or `Timeout`, `Disconnected`, or `InvalidArgs` if
    ///   the reply has other types; `CancellationError` if the task is cancelled, though the
    ///   callee may carry the call out all the same; and what the closures throw.
    package func call<Reply: Sendable>(
        _ destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName, timeout: Duration? = .seconds(25),
        replying signature: Signature? = nil,
        write body: @Sendable (inout MessageWriter) throws -> Void = { _ in },
        read: @escaping @Sendable (inout MessageReader) throws -> Reply
    ) async throws -> Reply {
        let target = Target(
            destination: destination, path: path, interface: interface, member: member)
        let number = pendingCalls.makeNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Sent here, in one step with the entry in the table: the task may have been put
                // aside until now, and the reply would have come to nobody.
                send(
                    target, number: number, timeout: timeout, write: body,
                    succeed: { reply in
                        continuation.resume(with: Result { try reply.read(as: signature, read) })
                    },
                    fail: { continuation.resume(throwing: $0) })
            }
        } onCancel: {
            // This may be any thread. Either the call is not sent, for its task has been cancelled,
            // or it is in the table by the time that this is performed.
            loop.perform {
                self.assumeIsolated { connection in
                    connection.takePendingCall(number)?.fail(CancellationError())
                }
            }
        }
    }

    /// Calls a method, and gives what comes of it to a closure, on the loop's thread.
    ///
    /// For code that lives on the loop and takes replies and signals in the order in which they come;
    /// all else calls ``call(_:_:_:_:timeout:replying:write:read:)``, whose parameters these are.
    ///
    /// - Parameters:
    ///   - mayStart: Whether the bus starts a program for a destination that nobody owns. If it may not,
    ///     the call fails at once with `NameHasNoOwner`.
    ///   - completion: Called once; at once if nothing could be sent.
    package func call<Reply>(
        _ destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName, timeout: Duration? = .seconds(25), mayStart: Bool = true,
        replying signature: Signature? = nil,
        write body: (inout MessageWriter) throws -> Void,
        read: @escaping (inout MessageReader) throws -> Reply,
        completion: @escaping (Result<Reply, any Error>) -> Void
    ) {
        let target = Target(
            destination: destination, path: path, interface: interface, member: member,
            mayStart: mayStart)
        post(
            target, number: pendingCalls.makeNumber(), timeout: timeout, write: body,
            succeed: { reply in completion(Result { try reply.read(as: signature, read) }) },
            fail: { completion(.failure($0)) })
    }

    /// What is called.
    struct Target {
        let destination: BusName?
        let path: ObjectPath
        let interface: InterfaceName
        let member: MemberName
        /// Whether the bus may start a program for the destination.
        var mayStart = true
    }

    /// Sends a call of the current task, unless that is cancelled, as ``post`` does.
    private func send(
        _ target: Target, number: UInt64, timeout: Duration?,
        write body: (inout MessageWriter) throws -> Void,
        succeed: @escaping (borrowing Message) -> Void, fail: @escaping (any Error) -> Void
    ) {
        if Task.isCancelled { return fail(CancellationError()) }
        post(target, number: number, timeout: timeout, write: body, succeed: succeed, fail: fail)
    }

    /// Sends a call, and sees to it that one of the two closures is called, once.
    ///
    /// Never inlined: the optimizer of Swift 6.3 crashes if this is part of an async function.
    @inline(never)
    func post(
        _ target: Target, number: UInt64, timeout: Duration?,
        write body: (inout MessageWriter) throws -> Void,
        succeed: @escaping (borrowing Message) -> Void, fail: @escaping (any Error) -> Void
    ) {
        do {
            // A call that is made because another one has ended would never end itself.
            guard isOpen else { throw DBusError.disconnected }
            let message = try Message.unaddressed(.call)
            try MessageWriter.write(to: message, at: target.path, body)
            try message.address(
                to: target.destination, target.path, target.interface, target.member)
            if !target.mayStart { message.startNobody() }
            let serial = try link.send(message)
            let timer = timeout.map { timeout in
                loop.schedule(after: timeout) {
                    self.takePendingCall(number)?.fail(
                        DBusError.timeout(target.destination, target.member, after: timeout))
                }
            }
            pendingCalls.add(
                PendingCalls.Waiting(number: number, timer: timer, succeed: succeed, fail: fail),
                serial: serial)
            updatePause()
        } catch {
            fail(error)
        }
    }

    private func takePendingCall(_ number: UInt64) -> PendingCalls.Waiting? {
        defer { updatePause() }
        return pendingCalls.take(number: number)
    }

    /// Calls a method with dynamic values.
    ///
    /// - Returns: All values of the reply.
    /// - Throws: As ``call(_:_:_:_:timeout:replying:write:read:)``.
    @discardableResult
    package func call(
        _ destination: BusName?, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName, _ arguments: [Value] = [], timeout: Duration? = .seconds(25)
    ) async throws -> [Value] {
        try await call(
            destination, path, interface, member, timeout: timeout,
            write: { try $0.writeValues(arguments) },
            read: { try $0.readValues() })
    }

    /// Calls a method of the bus itself.
    func callBus<Reply: Sendable>(
        _ member: MemberName,
        write body: @Sendable (inout MessageWriter) throws -> Void,
        read: @escaping @Sendable (inout MessageReader) throws -> Reply
    ) async throws -> Reply {
        guard !link.isDirect else { throw DBusError.noBus }
        return try await call(
            .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member, write: body, read: read)
    }
}

extension Message {
    /// Reads all values with a closure.
    func read<Result>(
        as signature: Signature?, _ read: (inout MessageReader) throws -> Result
    ) throws -> Result {
        if let signature, !hasSignature(signature) {
            throw DBusError.wrongReply(expected: signature, given: self.signature)
        }
        var reader = MessageReader(self)
        let result = try read(&reader)
        try reader.expectEnd()
        return result
    }
}

/// The calls that wait for a reply.
///
/// A reply refers to its call by the serial number of the message; a timeout and a cancellation do
/// by a number of ours, which is there before the message is sent.
struct PendingCalls {
    /// What ends a call.
    ///
    /// The code that takes a call out of the table calls one of the two closures, once. It does so after
    /// the table has changed, because the closures run code of the program, which may call back here.
    struct Waiting {
        let number: UInt64
        let timer: EventLoop.Timer?
        let succeed: (borrowing Message) -> Void
        let fail: (any Error) -> Void

        /// Ends the call with the reply or the error that came for it.
        func end(with message: borrowing Message) {
            if message.kind == .error {
                fail(message.error)
            } else {
                succeed(message)
            }
        }
    }

    private var waiting: [UInt32: Waiting] = [:]
    private var serials: [UInt64: UInt32] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// A number for the next call.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ call: Waiting, serial: UInt32) {
        waiting[serial] = call
        serials[call.number] = serial
    }

    /// Takes out the call that a reply refers to; nil if nobody waits for it any more.
    mutating func take(serial: UInt32) -> Waiting? {
        guard let call = waiting.removeValue(forKey: serial) else { return nil }
        serials[call.number] = nil
        call.timer?.cancel()
        return call
    }

    /// Takes out a call of ours; nil if it does not wait any more.
    mutating func take(number: UInt64) -> Waiting? {
        serials[number].flatMap { take(serial: $0) }
    }

    /// Takes out every call.
    mutating func takeAll() -> [Waiting] {
        waiting.keys.compactMap { take(serial: $0) }
    }
}
