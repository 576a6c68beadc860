/// Whether the service was asked for a copy, and who waits for the answer.
///
/// Used under the lock of the service.
struct Questions {
    /// How often it was asked.
    private var count: UInt64 = 0
    /// Whether it has been asked, and has not answered.
    private var isAsked = false
    /// Those who wait, each for the answer to a question after the one that was the last when they came.
    private var waiting: [(last: UInt64, resume: () -> Void)] = []

    /// Whether the service is being asked.
    var isUnderWay: Bool { isAsked }

    /// Whether anybody waits.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Has a closure called when a question is answered that is still to be asked.
    mutating func wait(_ resume: @escaping () -> Void) {
        waiting.append((count, resume))
    }

    /// Begins to ask; false where that is under way.
    mutating func begin() -> Bool {
        guard !isAsked else { return false }
        isAsked = true
        count += 1
        return true
    }

    /// Ends the question, answered or not.
    mutating func end() {
        isAsked = false
    }

    /// Lets those go on who came before the last question.
    mutating func answer(_ lock: Guard) {
        for waiter in waiting where waiter.last < count { lock.whenFree(waiter.resume) }
        waiting.removeAll { $0.last < count }
    }

    /// Lets all go on.
    mutating func answerAll(_ lock: Guard) {
        for waiter in waiting { lock.whenFree(waiter.resume) }
        waiting = []
    }
}
