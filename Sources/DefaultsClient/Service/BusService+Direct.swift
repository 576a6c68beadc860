import DBus
import DefaultsProtocol
import DefaultsTerms
import Synchronization

// Invariants
//
// 1. The daemon behind the socket is used only if it serves the bus of this service. It is asked
//    first. What it answers before that is not used, and it is sent no change before that.
// 2. A process that needs nothing starts no daemon.
// 3. Whatever is wrong with the socket, the bus is used. A process never waits longer than without
//    it: the socket is tried again only if it was open before, or if there may be another daemon.

/// What a process knows of the way to the daemon without the bus.
enum DirectState {
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
    func useSocket() -> Bool {
        guard let loop, case .untried = direct else { return false }
        guard let new = DirectSocket.connect(on: loop) else {
            direct = .absent
            return false
        }
        do {
            try adopt(new, by: .unproven)
            limitProof()
            return true
        } catch {
            direct = .closed
            return false
        }
    }

    /// Goes from the bus to the socket, when the daemon has answered over the bus and nothing is in
    /// flight.
    ///
    /// The daemon behind the socket is asked first, so that nothing waits for it.
    func returnToSocket() {
        guard mayReturnToSocket else { return }
        onLoop { service in
            guard service.mayReturnToSocket, let loop = service.loop else { return }
            // It is tried once for each daemon.
            service.direct = .closed
            guard let new = DirectSocket.connect(on: loop) else { return }
            service.prove(new) { proof in
                let isAdopted =
                    proof.isUsed && !service.direct.isUsed
                    && (try? service.adopt(new, by: proof)) != nil
                guard !isAdopted else { return }
                if case .forbidden = proof { service.direct = .forbidden }
                new.assumeIsolated { $0.close() }
            }
        }
    }

    private var mayReturnToSocket: Bool {
        isOnNamedBus && direct.isAbsent && callsInFlight == 0 && queue.isEmpty
    }

    /// Asks the daemon of a connection which bus it serves.
    ///
    /// - Parameter conclude: Called with the state of the socket, unless the daemon has gone.
    private func prove(
        _ new: Connection, then conclude: @escaping @Sendable (DirectState) -> Void
    ) {
        let bus = bus
        new.assumeIsolated { connection in
            connection.call(Contract.GetBusAddress.self, (), timeout: .seconds(25)) { outcome in
                switch outcome {
                case .success(let served) where DirectSocket.leads(to: served, for: bus):
                    conclude(.open)
                case .failure(let error as DBusError) where error.name == .disconnected: break
                case .failure(let error as ContractError) where error.code == .accessDenied:
                    conclude(.forbidden)
                case .success, .failure: conclude(.closed)
                }
            }
        }
    }

    /// Asks the daemon of the connection which bus it serves.
    func proveSocket() {
        guard let connection else { return }
        let attachment = attachment
        prove(connection) { [weak self] proof in
            guard let self, attachment == self.attachment, direct.isUsed else { return }
            guard proof.isUsed else { return leaveSocket(proof) }
            direct = proof
            sendQueued()
        }
    }

    /// Goes to the bus if the daemon behind the socket does not answer soon.
    ///
    /// The service manager may be starting it, in vain. The bus tells why.
    private func limitProof() {
        let attachment = attachment
        loop?.schedule(after: DirectSocket.patience) { [weak self] in
            guard let self, attachment == self.attachment, case .unproven = direct else { return }
            leaveSocket(.absent)
        }
    }

    /// Goes to the bus.
    func leaveSocket(_ state: DirectState) {
        close()
        forgetCalls()
        direct = state
        connect()
    }

    /// Goes on after the daemon behind the socket has ended.
    ///
    /// A connection to the socket would start the next daemon. So it is made only if there is something
    /// to do. Otherwise the bus says when there is another daemon.
    func socketHasClosed() {
        guard case .open = direct else {
            direct = .closed
            return connect()
        }
        direct = hasWork ? .untried : .absent
        if direct.isAbsent { waitForOwner() } else { connect() }
    }

    /// Whether there is something to ask or to send.
    var hasWork: Bool {
        lock.read { access in
            access[shared].table.copies.values.contains { copy in
                !access[copy.state].outbox.isEmpty || access[copy.state].requests.isAwaited
                    || access[copy.state].counter == nil
            }
        }
    }

    /// Connects to the bus, and asks for nothing until there is a daemon.
    private func waitForOwner() {
        guard connection == nil, !isSearching else { return }
        openBus(asking: false)
    }

    /// Takes a change with its values.
    func changedValues(_ signal: Signal) {
        progress.add(1, ordering: .relaxed)
        guard direct.isUsed, let signal = try? ChangedValuesSignal(signal) else { return }
        let copy = lock.change { access -> DomainCopy? in
            guard let copy = access[shared].table.copies[signal.change.domain],
                !copy.take(signal, access)
            else { return nil }
            return copy.isObserved(access.read) ? copy : nil
        }
        if let copy { refresh([copy]) }
    }
}
