// Invariants
//
// 1. A peer that leaves something undone is disconnected after a time, unless it goes on: it reads what
//    was sent to it, or sends the rest of a message that it has begun.
// 2. While we do not read, the time for the rest of a message does not pass.

/// What a peer that has connected to us leaves undone: it does not read, or does not finish a message.
///
/// Both take up memory here, which a bus would have in its own process.
///
/// It belongs to the loop's thread.
final class PeerConduct {
    /// How long a peer may leave something undone.
    struct Patience {
        /// Until it is authenticated.
        var authentication = Duration.seconds(30)
        /// Between two times that it reads a part of what waits for it.
        var reading = Duration.seconds(10)
        /// From the beginning of a message to its end.
        var message = Duration.seconds(30)
    }

    /// How many bytes libdbus reads at once at most.
    private static let most = 4 << 10

    private let loop: EventLoop
    private let patience: Patience
    /// Ends the connection.
    var cutOff: () -> Void = {}
    /// Called with the difference when the number of unfinished bytes has changed.
    var unfinishedChanged: (Int) -> Void = { _ in }

    /// The bytes of a message whose end has not come yet, at most 4 KiB too many.
    private(set) var unfinished = 0
    private var lastRead: SuspendingClock.Instant
    private var readingLimit: EventLoop.Timer?
    private var messageLimit: EventLoop.Timer?

    init(_ patience: Patience, on loop: EventLoop) {
        self.patience = patience
        self.loop = loop
        lastRead = loop.now
    }

    /// Ends both limits.
    func end() {
        cutOff = {}
        readingLimit?.cancel()
        finishMessage()
        unfinishedChanged = { _ in }
    }
}

/// Reading.
extension PeerConduct {
    /// Notes that more waits for the peer than a connection may leave unread.
    func noteUnread() {
        guard readingLimit == nil else { return }
        lastRead = loop.now
        limitReading(to: patience.reading)
    }

    /// Notes that the peer has read something.
    func noteRead() { lastRead = loop.now }

    /// Notes that little waits for the peer.
    func noteLittleUnread() {
        readingLimit?.cancel()
        readingLimit = nil
    }

    private func limitReading(to duration: Duration) {
        readingLimit = loop.schedule(after: duration) { [weak self] in
            guard let self else { return }
            let rest = patience.reading - lastRead.duration(to: loop.now)
            if rest > .zero { limitReading(to: rest) } else { cutOff() }
        }
    }
}

/// Messages that have begun to come.
extension PeerConduct {
    /// Notes that something of a message was read, and the message has not ended.
    ///
    /// - Parameters:
    ///   - reads: How often libdbus was told to read.
    ///   - waiting: How many bytes waited in the socket before that, if only one read followed; else nil.
    func noteInput(reads: Int, of waiting: Int?) {
        let bytes = min(waiting ?? Self.most, Self.most) + (reads - 1) * Self.most
        unfinished += bytes
        if messageLimit == nil { limitMessage() }
        unfinishedChanged(bytes)
    }

    /// Notes that a whole message has come.
    func finishMessage() {
        guard unfinished > 0 else { return }
        messageLimit?.cancel()
        messageLimit = nil
        let bytes = unfinished
        unfinished = 0
        unfinishedChanged(-bytes)
    }

    /// Notes that we read again, or do not (2).
    func noteHold(_ isHeld: Bool) {
        guard unfinished > 0 else { return }
        messageLimit?.cancel()
        messageLimit = nil
        if !isHeld { limitMessage() }
    }

    private func limitMessage() {
        messageLimit = loop.schedule(after: patience.message) { [weak self] in self?.cutOff() }
    }
}
