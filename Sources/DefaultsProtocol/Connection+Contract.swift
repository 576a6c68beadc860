package import DBus

/// Calls of the contract over a connection.
extension Connection {
    /// Makes a call, and gives the contract's refusals as such.
    ///
    /// - Parameters:
    ///   - service: Who is called.
    ///   - timeout: How long to wait for the reply; nil waits until the connection ends.
    /// - Throws: ``DefaultsError`` if the service refuses, and as the connection's own calls.
    package nonisolated func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, of service: BusName = Contract.busName,
        timeout: Duration? = .seconds(25)
    ) async throws -> C.Reply {
        do {
            return try await self.call(
                service, Contract.objectPath, C.method.interface, C.method.name, timeout: timeout,
                replying: C.method.outputSignature,
                write: { try C.writeArguments(arguments, to: &$0) },
                read: { try C.readReply(from: &$0) })
        } catch {
            throw DefaultsError.refusal(in: error)
        }
    }

    /// Makes a call, and gives what comes of it to a closure, on the loop's thread.
    ///
    /// The bus starts nothing for it: it would let callers wait for a unit that has failed.
    ///
    /// - Parameter completion: Called once; at once if nothing could be sent.
    package func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, timeout: Duration,
        completion: @escaping (Result<C.Reply, any Error>) -> Void
    ) {
        self.call(
            Contract.busName, Contract.objectPath, C.method.interface, C.method.name,
            timeout: timeout, mayStart: false, replying: C.method.outputSignature,
            write: { try C.writeArguments(arguments, to: &$0) },
            read: { try C.readReply(from: &$0) },
            completion: { completion($0.mapError(DefaultsError.refusal)) })
    }

    /// Sends the signal of a change.
    package func emit(_ signal: ChangedSignal) throws {
        try emit(
            Contract.objectPath, Contract.interface, ChangedSignal.declaration.name
        ) { try signal.write(to: &$0) }
    }
}

extension DefaultsError {
    /// An error of a call as callers are given it: the contract's refusals as such, and all others as
    /// they are.
    package static func refusal(in error: any Error) -> any Error {
        (error as? DBusError).flatMap(DefaultsError.init) ?? error
    }
}
