import DBus
import DefaultsModel
import DefaultsProtocol

// Invariants
//
// 1. A name is never taken away from a daemon: the new one waits for it in the bus's queue, and asks
//    the owner for it. Only a caller that may maintain the service is heard, and only the one that is
//    next in the queue: nobody else must get the name, as callers send values to it.
// 2. The new daemon waits for the previous owner, which one signal of the bus names together with the
//    new owner. If several daemons take over at once, each so waits for the one before it.
// 3. The wait ends when that one has left the bus. A daemon leaves when it has answered everything that
//    was sent to the name while it had it, and has given up the database.
// 4. The bus is listened to by a connection of our own that nobody calls. The one that takes the name
//    takes nothing in while as many calls wait as may.

/// The taking over of the name from a daemon that has it.
struct HandOver {
    /// How many changes of the owner may wait to be looked at.
    private static let waitingChanges = 64

    /// The connection that takes the name.
    private let connection: Connection
    /// Watches other connections leave the bus (4).
    private let witness: Connection

    /// Prepares to take the name over; the loop waits while the bus is greeted.
    init(to connection: Connection) throws {
        self.connection = connection
        witness = try Connection(to: .session, on: connection.loop)
    }

    /// Takes the name, and waits until the one who had it has ended.
    ///
    /// Calls are held by then: those to the name come from now on.
    ///
    /// - Parameter limit: How long to wait for the name, and then for the end of its last owner. One
    ///   that has not ended by then may have the database still, which is for its lock to say.
    /// - Throws: ``LifeCycleError`` if the name cannot be had, `DBusError` if the bus cannot be
    ///   asked.
    func takeOver(within limit: Duration) async throws {
        let changes = try await witness.ownerChanges(
            of: Contract.busName, limit: Self.waitingChanges)
        // An earlier version lets the name be taken from it.
        if try await !connection.takesName([.doNotQueue, .replaceExisting]) {
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
        // The bus puts the last one that would replace the owner in front of all others that wait.
        guard try await !connection.takesName([.replaceExisting]) else { return }
        let asking = Task(executorPreference: connection.loop) {
            try await askOwners(changes)
        }
        let timer = connection.loop.schedule(after: limit) { asking.cancel() }
        defer { timer.cancel() }
        try await asking.value
    }

    /// How long until an owner is asked again that waits for another heir.
    private static let pause = Duration.milliseconds(200)

    /// Asks each owner until the name is ours.
    ///
    /// The bus does not say when an heir before us leaves the queue, so an owner that refuses for its
    /// sake is asked again.
    private func askOwners(_ changes: SignalStream) async throws {
        var iterator = changes.makeAsyncIterator()
        while let owner = try await witness.owner(of: Contract.busName),
            owner != connection.uniqueName
        {
            let refusal: DefaultsError?
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
    /// - Returns: What it says if others are to have the name before us.
    /// - Throws: ``LifeCycleError`` if it keeps the name.
    private func ask(_ owner: BusName) async throws -> DefaultsError? {
        do {
            try await connection.call(Contract.HandOver.self, (), of: owner, timeout: nil)
            return nil
        } catch let error as DefaultsError {
            guard error.code == .conflict else {
                throw LifeCycleError.handOverRefused(error.message)
            }
            return error
        } catch let error as DBusError {
            switch error.name {
            // It has left.
            case .noReply, .serviceUnknown, .nameHasNoOwner: return nil
            case .unknownMethod, .unknownObject, .unknownInterface: throw LifeCycleError.nameTaken
            default: throw LifeCycleError.handOverRefused(error.message)
            }
        }
    }

    // MARK: Waiting for the end

    /// The unique name of the one who had the name before us; nil if there was none.
    private func previousOwner(in changes: SignalStream) async -> BusName? {
        for await change in changes {
            // Were so many lost, ours may be among them.
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

// MARK: The one that has the name

extension DefaultsObject {
    /// Gives the name to the caller; what follows is what follows every loss of the name.
    func handOver(_ call: MethodCall) throws {
        guard let heir = call.sender else { throw DefaultsError.noNameToHandOver }
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
        Task(executorPreference: connection.loop) {
            do {
                try await self.giveName(to: heir)
                try call.reply()
            } catch {
                call.fail(error)
            }
        }
    }

    /// Gives the name up when all is written, so that callers do not wait long for the next daemon.
    ///
    /// What the disk refuses is in the journal for that one.
    private func giveName(to heir: BusName) async throws {
        try await checkQueue(for: heir)
        _ = await durability()
        try await checkQueue(for: heir)
        try await connection.releaseName(Contract.busName)
    }

    private func checkQueue(for heir: BusName) async throws {
        let owners = try await connection.queuedOwners(of: Contract.busName)
        let waiting = owners.filter { $0 != connection.uniqueName?.string }
        guard waiting.first == heir.string else {
            throw DefaultsError(notNext: heir, waiting: waiting)
        }
    }
}
