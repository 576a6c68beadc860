// Invariants
//
// 1. Replies that peers do not read take up at most the bound, and one small reply more
//    for each peer.
// 2. Unfinished messages of peers take up at most the bound.
// 3. The process that takes up the most pays. So a process that takes up less than others gets its replies
//    and has its calls read, whatever others do.

/// How much the peers of a service may take up in its memory, in bytes.
struct PeerBounds {
    /// What they have not read.
    var unread = MessageLimits.maximumBacklogOfAllPeers
    /// What they have sent of messages that they have not finished.
    var unfinished = MessageLimits.maximumUnfinished
}

/// What the peers of a service take up in its memory.
extension IncomingCalls {
    /// Makes room for a large reply.
    ///
    /// - Returns: False if the process that wants it takes up as much as any other.
    func makeRoom(forReplyOf weight: Int, to newcomer: Connection) -> Bool {
        while true {
            var unread = shares { $0.unwrittenToPeer }
            unread.add(weight, of: newcomer, in: newcomer.peerProcess)
            guard unread.total > bounds.unread else { return true }
            let payer = unread.payer(preferring: newcomer, in: newcomer.peerProcess)
            guard let payer, payer !== newcomer, payer.cutOff() else { return false }
        }
    }

    /// Notes that peers have sent more, or less, of messages that they have not finished.
    func noteUnfinished(_ difference: Int) {
        unfinished += difference
        guard difference > 0 else { return }
        while unfinished > bounds.unfinished {
            let payer = shares { $0.unfinishedOfPeer }.payer(preferring: nil, in: nil)
            guard let payer, payer.cutOff() else { return }
        }
    }

    private func shares(of amount: (Connection) -> Int) -> Shares<Connection> {
        var shares = Shares<Connection>()
        for connection in openConnections {
            shares.add(amount(connection), of: connection, in: connection.peerProcess)
        }
        return shares
    }
}

/// What is counted of a peer; on the loop's thread.
extension Connection {
    /// How many bytes wait to be written to a peer; 0 for a bus.
    fileprivate nonisolated var unwrittenToPeer: Int {
        link.isDirect && link.isConnected ? link.backlog : 0
    }

    /// How many bytes a peer has sent of a message that it has not finished.
    fileprivate nonisolated var unfinishedOfPeer: Int { link.conduct?.unfinished ?? 0 }

    /// The process of a peer; the connection itself if it is not known.
    fileprivate nonisolated var peerProcess: AnyObject { callers.peer?.process ?? self }

    /// Ends the connection of a peer.
    ///
    /// - Returns: Whether it had not ended.
    fileprivate nonisolated func cutOff() -> Bool {
        guard link.isConnected else { return false }
        link.cutOff()
        return !link.isConnected
    }
}
