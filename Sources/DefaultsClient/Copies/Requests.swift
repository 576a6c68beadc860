/// The requests for a copy, and who waits for their answers.
struct Requests: Sendable {
    /// How often the service was asked.
    private var count: UInt64 = 0
    /// Whether a request is in flight.
    private(set) var isInFlight = false
    /// The waiters, each for the answer to a request after the one that was the last when it came.
    private var waiting: [(last: UInt64, resume: @Sendable () -> Void)] = []

    /// Whether anybody waits.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Has a closure called when a request is answered that is still to be made.
    mutating func wait(_ resume: @escaping @Sendable () -> Void) {
        waiting.append((count, resume))
    }

    /// Begins a request; false if one is in flight.
    mutating func begin() -> Bool {
        guard !isInFlight else { return false }
        isInFlight = true
        count += 1
        return true
    }

    /// Ends the request, answered or not.
    mutating func end() {
        isInFlight = false
    }

    /// Lets those go on who came before the last request.
    mutating func answer(_ access: borrowing WriteAccess) {
        for waiter in waiting where waiter.last < count { access.whenFree(waiter.resume) }
        waiting.removeAll { $0.last < count }
    }

    /// Lets all go on.
    mutating func answerAll(_ access: borrowing WriteAccess) {
        for waiter in waiting { access.whenFree(waiter.resume) }
        waiting = []
    }
}
