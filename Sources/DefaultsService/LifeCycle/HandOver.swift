import DBus
import DefaultsProtocol

// Invariants
//
// 1. Who is waited for is the one who had the name until we got it, told by the bus in the one signal
//    that says both. Where several daemons take over at once, each so waits for the one before it.
// 2. The wait ends when that one has left the bus. A daemon leaves when it has answered everything that
//    was sent to the name while it had it, and has given up the database.
// 3. The bus is listened to by a connection of our own that nobody calls. The one that takes the name
//    takes nothing in while as many calls wait as may.

/// The taking over of the name from a daemon that has it.
struct HandOver {
    /// How many changes of the owner may come between the first look and ours.
    private static let changesBefore = 64

    /// The connection that takes the name.
    private let connection: Connection
    /// The one that sees others go (3).
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
    /// - Parameter limit: How long to wait for the end. One that has not ended by then may have the
    ///   database still, which is for its lock to say.
    /// - Throws: ``LifeCycleError`` where the name cannot be had, `DBusError` where the bus cannot be
    ///   asked.
    func takeOver(within limit: Duration) async throws {
        let changes = try await witness.ownerChanges(
            of: Contract.busName, limit: Self.changesBefore)
        try await connection.takeName(from: .anybody)
        if let previous = await previousOwner(in: changes) {
            _ = try await witness.waitForDeparture(of: previous, within: limit)
        }
        await witness.close()
    }

    /// The unique name of the one who had the name before us; nil where there was none.
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
