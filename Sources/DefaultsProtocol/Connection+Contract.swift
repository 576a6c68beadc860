package import DBus

/// Calls of the contract over a connection.
extension Connection {
    /// Makes a call.
    ///
    /// Refusals of the contract are thrown as ``ContractError``.
    ///
    /// - Parameters:
    ///   - service: The bus name of the service.
    ///   - timeout: How long to wait for the reply; nil waits until the connection ends.
    /// - Throws: ``ContractError`` if the service refuses, and the errors of the connection.
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
            throw ContractError.refusal(in: error)
        }
    }

    /// Makes a call, and passes the result to a closure on the loop's thread.
    ///
    /// The bus does not start the service for it: otherwise it would let callers wait for a unit
    /// that has failed.
    ///
    /// - Parameter completion: Called once. If nothing could be sent, it is called at once.
    package func call<C: Call>(
        _ call: C.Type, _ arguments: C.Arguments, timeout: Duration,
        completion: @escaping (Result<C.Reply, any Error>) -> Void
    ) {
        self.call(
            Contract.busName, Contract.objectPath, C.method.interface, C.method.name,
            timeout: timeout, mayStart: false, replying: C.method.outputSignature,
            write: { try C.writeArguments(arguments, to: &$0) },
            read: { try C.readReply(from: &$0) },
            completion: { completion($0.mapError(ContractError.refusal)) })
    }

    /// Sends the signal of a change.
    ///
    /// - Parameter destination: The receiver; nil for all that have a match rule for it.
    package func emit(_ signal: ChangedSignal, to destination: BusName? = nil) throws {
        try emit(
            Contract.objectPath, Contract.interface, ChangedSignal.declaration.name,
            to: destination
        ) { try signal.write(to: &$0) }
    }

    /// Says that the daemon ends.
    package func emitEnding() throws {
        try emit(Contract.objectPath, Contract.interface, EndingSignal.declaration.name)
    }

    /// Sends a change with its values.
    package func emit(_ signal: ChangedValuesSignal) throws {
        try emit(
            Contract.objectPath, Contract.interface, ChangedValuesSignal.declaration.name
        ) { try signal.write(to: &$0) }
    }
}

extension ContractError {
    /// The error that callers get for a failed call: a ``ContractError`` if the contract has it,
    /// otherwise the error itself.
    package static func refusal(in error: any Error) -> any Error {
        (error as? DBusError).flatMap(ContractError.init) ?? error
    }
}
