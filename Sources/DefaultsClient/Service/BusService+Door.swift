import DBus
import DefaultsProtocol
import DefaultsTerms
import Synchronization

// Invariants
//
// 1. The daemon behind the door is used only if it serves the bus of this service. It is asked
//    first. What it answers before that is not used, and it is sent no change before that.
// 2. A process that needs nothing starts no daemon.
// 3. Whatever is wrong with the door, the bus is used. A process never waits longer than without
//    it: the door is tried again only if it was open before, or if there may be another daemon.

/// What a process knows of the way to the daemon without the bus.
enum DoorState {
    /// It is to be tried.
    case untried
    /// Nobody listened. It is tried again when a daemon has answered over the bus.
    case absent
    /// There is a connection, and the daemon has not said which bus it serves.
    case unproven
    /// The connection is to the daemon of this service.
    case open
    /// It does not lead to this daemon, or leads nowhere, until there is another daemon.
    case closed
    /// The daemon does not let this process in.
    case forbidden

    /// Whether the connection is one without a bus.
    var isUsed: Bool {
        switch self {
        case .unproven, .open: true
        case .untried, .absent, .closed, .forbidden: false
        }
    }

    /// Whether changes may be sent over the connection.
    var isOpen: Bool {
        if case .unproven = self { false } else { true }
    }

    /// Whether it is to be tried before the bus.
    var isUntried: Bool {
        if case .untried = self { true } else { false }
    }

    /// Whether it is to be tried when the daemon has answered.
    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    /// Notes that there may be another daemon.
    mutating func noteOther() {
        if case .closed = self { self = .absent }
    }
}

/// The way to the daemon without the bus; on the loop's thread.
extension BusService {
    /// Connects without the bus.
    ///
    /// - Returns: Whether there is a connection.
    func useDoor() -> Bool {
        guard let loop, case .untried = door else { return false }
        guard let new = DirectDoor.connect(on: loop) else {
            door = .absent
            return false
        }
        door = .unproven
        do {
            try adopt(new, proving: true)
            return true
        } catch {
            door = .closed
            return false
        }
    }

    /// Goes from the bus to the door, when the daemon has answered over the bus and nothing is in
    /// flight.
    func useDoorAgain() {
        guard mayUseDoorAgain else { return }
        onLoop { service in
            guard service.mayUseDoorAgain else { return }
            service.door = .untried
            if !service.useDoor() { service.door = .closed }
        }
    }

    private var mayUseDoorAgain: Bool {
        isOnNamedBus && door.isAbsent && callsInFlight == 0 && queue.isEmpty
    }

    /// Asks the daemon which bus it serves.
    func proveDoor() {
        let attachment = attachment
        call(Contract.GetBusAddress.self, ()) { [weak self] outcome in
            guard let self, attachment == self.attachment, door.isUsed else { return }
            switch outcome {
            case .success(let served) where DirectDoor.leads(to: served, for: bus):
                door = .open
                sendQueued()
            case .failure(let error as DBusError) where error.name == .disconnected: break
            case .failure(let error as DefaultsError) where error.code == .accessDenied:
                leaveDoor(.forbidden)
            case .success, .failure: leaveDoor(.closed)
            }
        }
    }

    /// Goes to the bus.
    private func leaveDoor(_ state: DoorState) {
        close()
        forgetCalls()
        door = state
        connect()
    }

    /// Goes on after the daemon behind the door has ended.
    ///
    /// A connection by the door would start the next daemon. So it is made only if there is something
    /// to do. Otherwise the next read or write connects. Observers need the changes that other
    /// processes will make: the bus says when there is another daemon.
    func doorHasClosed() {
        guard case .open = door else {
            door = .closed
            return connect()
        }
        door = .untried
        if hasWork { return connect() }
        let isObserved = lock.read { access in
            access[shared].table.copies.values.contains { $0.isObserved(access) }
        }
        if isObserved { waitForOwner() }
    }

    /// Whether there is something to ask or to send.
    private var hasWork: Bool {
        lock.read { access in
            access[shared].table.copies.values.contains { copy in
                !access[copy.state].outbox.isEmpty || access[copy.state].requests.isAwaited
                    || access[copy.state].counter == nil
            }
        }
    }

    /// Connects to the bus, and asks for nothing until there is a daemon.
    private func waitForOwner() {
        guard let loop, connection == nil, !isSearching else { return }
        do {
            try adopt(Connection(to: bus, on: loop), asking: false)
            isOnNamedBus = true
        } catch {
            // The next read or write looks for a daemon.
        }
    }

    /// Takes a change with its values.
    func changedValues(_ signal: Signal) {
        progress.add(1, ordering: .relaxed)
        guard door.isUsed, let signal = try? ChangedValuesSignal(signal) else { return }
        let copy = lock.change { access -> DomainCopy? in
            guard let copy = access[shared].table.copies[signal.change.domain],
                !copy.take(signal, access)
            else { return nil }
            return copy.isObserved(access.read) ? copy : nil
        }
        if let copy { refresh([copy]) }
    }
}
