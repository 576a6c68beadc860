package import SystemCalls

/// Serves peers that connect to a socket, beside a bus or without one.
///
/// Each peer has a connection of its own, which serves what the first connection of the service
/// serves. The calls of all connections have one order of turns.
///
/// ```swift
/// let listener = try PeerListener(of: connection, on: socket, mostPeers: 100)
/// ```
///
/// It is an actor on the loop of the service.
package actor PeerListener {
    /// The loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        service.loop.asUnownedSerialExecutor()
    }

    /// How many peers are connected at most.
    ///
    /// Those who come later are disconnected at once, and can use the bus.
    private let mostPeers: Int
    private let patience: PeerConduct.Patience
    private let judge: @Sendable (PeerCredentials?) -> DBusError?

    private let service: Connection
    private let server: PeerServer
    private var peers: [ObjectIdentifier: Connection] = [:]
    /// How many peers have been accepted.
    private var accepted: UInt64 = 0

    /// Begins to accept peers.
    ///
    /// To be called on the loop's thread. The service must have exported its objects.
    ///
    /// - Parameters:
    ///   - service: The connection whose objects are served.
    ///   - socket: A listening Unix stream socket. The listener uses a duplicate. The socket
    ///     becomes non-blocking.
    ///   - mostPeers: How many peers may be connected.
    ///   - judge: Says why a peer may not call at all; nil if it may. It is called for each peer, on
    ///     the loop's thread.
    /// - Throws: ``DBusError``, of the name `InvalidArgs` if it is not such a socket.
    package init(
        of service: Connection, on socket: FileDescriptor, mostPeers: Int,
        refusing judge: @escaping @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    ) throws {
        try self.init(
            of: service, on: socket, mostPeers: mostPeers, patience: PeerConduct.Patience(),
            refusing: judge)
    }

    /// Does the same for tests, which choose the patience.
    ///
    /// - Parameter patience: How long a peer may leave something undone.
    init(
        of service: Connection, on socket: FileDescriptor, mostPeers: Int,
        patience: PeerConduct.Patience,
        refusing judge: @escaping @Sendable (PeerCredentials?) -> DBusError? = { _ in nil }
    ) throws {
        self.judge = judge
        self.service = service
        self.mostPeers = mostPeers
        self.patience = patience
        server = try PeerServer(on: socket, loop: service.loop)
        assumeIsolated { listener in
            listener.server.accepted = { [weak self] accepted in
                nonisolated(unsafe) let accepted = accepted
                self?.assumeIsolated { $0.accept(accepted) }
            }
        }
    }

    /// The connections of the peers.
    package var connections: [Connection] { Array(peers.values) }

    private func accept(_ accepted: OpaquePointer) {
        // The link stays on this thread.
        nonisolated(unsafe) let link = Link(
            accepted: accepted, patience: patience, on: service.loop)
        guard peers.count < mostPeers else { return link.close() }
        do {
            self.accepted += 1
            let peer = try Connection(
                serving: link, named: ":direct.\(self.accepted)", like: service,
                refusing: judge)
            peers[ObjectIdentifier(peer)] = peer
            let number = ObjectIdentifier(peer)
            peer.assumeIsolated { peer in
                peer.onDisconnect { [weak self] in
                    self?.assumeIsolated { $0.peers[number] = nil }
                }
            }
        } catch {
            // The peer sees the end of its connection, and can use the bus.
            link.close()
        }
    }

    /// Accepts nobody any more, and carries out no more calls of the connected peers.
    ///
    /// The calls that were passed on are answered. A peer that is being authenticated is still
    /// authenticated, so that it gets what is sent at the end.
    package func stop() {
        server.close()
        for peer in peers.values { peer.setPaused(true) }
    }

    /// Waits until everything is written that was sent to peers, and ends their connections.
    ///
    /// A peer that is writing a call when its connection is closed may not read any more: GLib
    /// gives up a connection at the first write that fails. So each peer sees the end of what it
    /// reads first, and closes the connection itself.
    ///
    /// - Parameter patience: How long peers have for it.
    package func close(within patience: Duration) async {
        stop()
        let peers = Array(peers.values)
        let timer = service.loop.schedule(after: patience) {
            for peer in peers { peer.assumeIsolated { $0.close() } }
        }
        for peer in peers {
            await peer.flush()
            await peer.endWriting()
            await peer.close()
        }
        timer.cancel()
        self.peers = [:]
    }
}

extension Connection {
    /// Serves a peer with the objects of another connection of the service.
    fileprivate init(
        serving link: Link, named name: String, like service: Connection,
        refusing judge: @Sendable (PeerCredentials?) -> DBusError?
    ) throws {
        try self.init(link, peerName: name, sharing: service.calls)
        let objects = service.assumeIsolated { $0.objects }
        assumeIsolated { peer in
            peer.objects = objects
            peer.identifyPeer(refusing: judge)
        }
    }
}
