/// Objects that others call, and what they send out.
extension Connection {
    /// Serves interfaces at a path.
    ///
    /// The object answers `org.freedesktop.DBus.Introspectable`, `Properties` and `Peer` too, and the
    /// paths above it answer `Introspectable`. Further interfaces at the same path are added; one
    /// that is there already is a mistake in the program, and traps.
    package func export(_ interfaces: [Interface], at path: ObjectPath) {
        objects.export(interfaces, at: path)
    }

    /// Refuses every call that is to be carried out from now on, on all connections of the service,
    /// so that a service which ends leaves none of them in doubt.
    ///
    /// - Parameter error: What the callers get, of any object and method.
    package func refuseCalls(with error: DBusError) {
        calls.refusal = error
    }

    /// Sends a signal.
    ///
    /// A signal of an interface that is exported at the path must be declared there and have the
    /// declared types; another is a mistake in the program, and traps.
    ///
    /// - Parameters:
    ///   - destination: The one receiver; nil sends to all that have asked for it.
    ///   - body: Writes the arguments.
    /// - Throws: ``DBusError``, of the name `Disconnected` or as ``MessageWriter`` does, and what
    ///   the closure throws. Nothing has been sent then.
    package func emit(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
        to destination: BusName? = nil,
        write body: @Sendable (inout MessageWriter) throws -> Void = { _ in }
    ) throws {
        let message = try Message.unaddressed(.signal)
        let written = try MessageWriter.write(to: message, at: path, body)
        try message.address(to: destination, path, interface, member)
        objects.checkSignal(member, of: interface, at: path, written.signature)
        try link.send(message)
        noteSent(written.weight, to: nil)
    }

    /// Tells others that properties have changed, each as its declaration says: with the value, by
    /// its name, or not at all.
    ///
    /// A property that is not exported at the path is a mistake in the program, and traps.
    ///
    /// - Throws: What a property's closure throws, or ``DBusError`` if the signal cannot be sent.
    package func propertiesChanged(
        _ path: ObjectPath, _ interface: InterfaceName, _ names: [MemberName]
    ) throws {
        let properties = names.map { objects.property($0, of: interface, at: path) }
        let changed = try properties.filter { $0.emitsChanged == .value }.map {
            Value.Entry(.string($0.name.string), .variant(try $0.value()))
        }
        let invalidated = properties.filter { $0.emitsChanged == .invalidation }
        guard !changed.isEmpty || !invalidated.isEmpty else { return }
        try emit(path, StandardInterfaces.propertiesName, "PropertiesChanged") { writer in
            try writer.writeString(interface.string)
            try writer.writeValue(.dictionary(key: "s", value: "v", changed))
            try writer.writeArray(of: "s") {
                for property in invalidated { try $0.writeString(property.name.string) }
            }
        }
    }

    /// Carries out a call that came in, or answers why not.
    nonisolated func serve(_ message: borrowing Message, from caller: Caller<WaitingCall>) {
        // The caller stays on this thread.
        nonisolated(unsafe) let caller = caller
        assumeIsolated { $0.carryOut(message, from: caller) }
    }

    private func carryOut(_ message: borrowing Message, from caller: Caller<WaitingCall>) {
        guard let path = message.path, let member = message.member else { return }
        do {
            if let refusal = calls.refusal ?? caller.refusal { throw refusal }
            let (interface, method) = try objects.method(member, of: message.interface, at: path)
            guard message.hasSignature(method.inputSignature) else {
                throw DBusError.wrongArguments(
                    member, expected: method.inputSignature, given: message.signature)
            }
            // The handler owns the call. It is examined again when the handler has returned. This
            // is safe because the handler, and everything that keeps the call, uses it on this
            // thread.
            nonisolated(unsafe) let call = MethodCall(
                Message(retaining: message.pointer), from: caller, to: method, of: interface,
                at: path, on: self)
            do {
                try method.handler(call)
            } catch {
                // A call that is answered has this error already: its reply could not be written.
                if !call.isAnswered { call.fail(error) }
            }
        } catch {
            if message.isReplyExpected {
                sendError(DBusError(replying: error), to: message, from: caller)
            }
        }
    }
}

/// Answers to calls, for ``MethodCall``.
extension Connection {
    /// Answers a call, if anybody is there still.
    nonisolated func sendAnswer(
        _ message: borrowing Message, _ written: MessageWriter.Written,
        to caller: Caller<WaitingCall>
    ) throws {
        // The caller and the message stay on this thread.
        nonisolated(unsafe) let caller = caller
        try assumeIsolated { connection in
            guard connection.link.isConnected else { return }
            try connection.checkRoom(forReplyOf: written.size, to: caller)
            try connection.link.send(message)
            connection.noteSent(written.weight, to: caller)
        }
    }

    /// Answers a call with an error.
    nonisolated func sendError(
        _ error: DBusError, to call: borrowing Message, from caller: Caller<WaitingCall>
    ) {
        nonisolated(unsafe) let caller = caller
        assumeIsolated { connection in
            // If even the error cannot be sent the connection has ended, and with it the call.
            if let message = try? Message.error(named: error.name, to: call),
                let written = try? MessageWriter.write(to: message, error.write)
            {
                _ = try? connection.link.send(message)
                connection.noteSent(written.weight, to: caller)
            }
        }
    }

    /// Lets go of a call on the loop's thread, wherever its last reference went away.
    nonisolated func dispose(
        of message: consuming Message, from caller: Caller<WaitingCall>, answering error: DBusError?
    ) {
        // The one reference moves to the closure, which is performed once on the loop's thread; the
        // caller is not touched before.
        nonisolated(unsafe) let (pointer, caller) = (message.relinquish(), caller)
        let finish: @Sendable () -> Void = { [self] in
            let message = Message(owned: pointer)
            if let error, message.isReplyExpected { sendError(error, to: message, from: caller) }
        }
        loop.isCurrent ? finish() : loop.perform(finish)
    }
}
