import DefaultsCore
import DBus
import DefaultsProtocol

// Invariants
//
// 1. A name is never taken away from a daemon: the new daemon waits in the bus's queue for the
//    name, and asks the owner for it. The owner gives the name only to a caller that may use the
//    maintenance interface and is next in the queue. No other program must get the name, because
//    callers send values to it.
// 2. The new daemon waits until the previous owner has ended. One signal of the bus names both the
//    previous and the new owner. So if several daemons take over at the same time, each waits for
//    the one before it.
// 3. The wait ends when the previous owner has left the bus. A daemon leaves after it has answered
//    everything that was sent to the name while it owned it, and has given up the database.
// 4. A separate connection, which nobody calls, watches the bus. The connection that takes the name
//    stops reading while the limit of waiting calls is reached.

/// Takes over the name from a running daemon.
struct HandOver {
    /// How many changes of the owner may be queued.
    private static let waitingChanges = 64

    /// The connection that takes the name.
    private let connection: Connection
    /// Watches other connections leave the bus (4).
    private let witness: Connection

    /// Prepares the takeover.
    init(to connection: Connection) async throws {
        self.connection = connection
        witness = try await Connection.open(.session, on: connection.loop)
    }

    /// Takes the name, and waits until the previous owner has ended.
    ///
    /// The caller must hold calls before: calls to the name arrive from now on.
    ///
    /// - Parameter limit: How long to wait for the name, and then for the end of its previous
    ///   owner. If that one has not ended by then, it may still have the database; its lock will
    ///   show that.
    /// - Throws: ``LifeCycleError`` if this connection cannot get the name, or `DBusError` if the
    ///   bus does not answer.
    func takeOver(within limit: Duration) async throws {
        let changes = try await witness.ownerChanges(
            of: Contract.busName, limit: Self.waitingChanges)
        // The name can be taken from a daemon of an earlier version without asking.
        if try await !connection.requestName([.doNotQueue, .replaceExisting]) {
            try await askForName(within: limit)
        }
        if let previous = await previousOwner(in: changes) {
            _ = try await witness.waitForDeparture(of: previous, within: limit)
        }
        await witness.close()
    }

    // MARK: Asking for the name

    private func askForName(within limit: Duration) async throws {
        let changes = try await witness.ownerChanges(
            of: Contract.busName, limit: Self.waitingChanges)
        // The bus puts the last connection that wants to replace the owner at the front of the
        // queue.
        guard try await !connection.requestName([.replaceExisting]) else { return }
        let asking = Task(executorPreference: connection.loop) {
            try await askOwners(changes)
        }
        let timer = connection.loop.schedule(after: limit) { asking.cancel() }
        defer { timer.cancel() }
        try await asking.value
    }

    /// The pause before an owner is asked again that waits for another connection.
    private static let pause = Duration.milliseconds(200)

    /// Asks each owner until this connection owns the name.
    ///
    /// The bus does not say when a connection before this one leaves the queue. So an owner that
    /// refuses for this reason is asked again.
    private func askOwners(_ changes: SignalStream) async throws {
        var iterator = changes.makeAsyncIterator()
        while let owner = try await witness.owner(of: Contract.busName),
            owner != connection.uniqueName
        {
            let refusal: ContractError?
            do {
                refusal = try await ask(owner)
            } catch is CancellationError {
                throw LifeCycleError.ownerSilent
            }
            if let refusal {
                await pause()
                guard !Task.isCancelled else {
                    throw LifeCycleError.handOverRefused(refusal.message)
                }
            } else if await iterator.next() == nil {
                throw LifeCycleError.ownerSilent
            }
        }
    }

    private func pause() async {
        await withCheckedContinuation { continuation in
            connection.loop.schedule(after: Self.pause) { continuation.resume() }
        }
    }

    /// Asks an owner for the name.
    ///
    /// - Returns: The refusal if another connection is to get the name first.
    /// - Throws: ``LifeCycleError`` if the owner keeps the name.
    private func ask(_ owner: BusName) async throws -> ContractError? {
        do {
            try await connection.call(Contract.HandOver.self, (), of: owner, timeout: nil)
            return nil
        } catch let error as ContractError {
            guard error.code == .conflict else {
                throw LifeCycleError.handOverRefused(error.message)
            }
            return error
        } catch let error as DBusError {
            switch error.name {
            // The owner has left the bus.
            case .noReply, .serviceUnknown, .nameHasNoOwner: return nil
            case .unknownMethod, .unknownObject, .unknownInterface: throw LifeCycleError.nameTaken
            default: throw LifeCycleError.handOverRefused(error.message)
            }
        }
    }

    // MARK: Waiting for the end

    /// The unique name of the previous owner; nil if there was none.
    private func previousOwner(in changes: SignalStream) async -> BusName? {
        for await change in changes {
            // If signals were lost, the one for this connection may be among them.
            guard case .signal(let signal) = change, signal.arguments.count == 3 else { return nil }
            guard signal.arguments[2] == .string(connection.uniqueName?.string ?? "") else {
                continue
            }
            guard case .string(let previous) = signal.arguments[1] else { return nil }
            return try? BusName(previous)
        }
        return nil
    }
}
