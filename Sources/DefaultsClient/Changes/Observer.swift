/// A change that a store has seen of what holds for a key.
struct SeenChange {
    let name: KeyName
    let old: Found
    let new: Found
    /// Whether this process made it.
    let isOwn: Bool
}

/// One who is told of changes: of one key, or of all.
///
/// Of each key it keeps the newest change that was not fetched, so that it never holds more than one
/// for each. Used under the lock of the service (`@unchecked Sendable`).
final class Observer: @unchecked Sendable {
    private let name: KeyName?
    private var waiting: [KeyName: SeenChange] = [:]
    private var order: [KeyName] = []
    private var consumer: CheckedContinuation<SeenChange?, Never>?
    private var isFinished = false
    /// Called instead, where somebody wants to know at once that there was a change.
    private let onChange: (() -> Void)?

    /// - Parameter name: The key; nil for all.
    init(of name: KeyName?, onChange: (() -> Void)? = nil) {
        self.name = name
        self.onChange = onChange
    }

    func observes(_ name: KeyName) -> Bool {
        self.name == nil || self.name == name
    }

    /// Takes a change.
    func take(_ change: SeenChange, _ lock: Guard) {
        if let onChange { return lock.whenFree(onChange) }
        if let earlier = waiting[change.name] {
            let both = SeenChange(
                name: change.name, old: earlier.old, new: change.new, isOwn: change.isOwn)
            // There and back again while nobody looked: no change.
            if both.old.entry.isSame(as: both.new.entry) {
                waiting[change.name] = nil
                order.removeAll { $0 == change.name }
                return
            }
            waiting[change.name] = both
        } else {
            waiting[change.name] = change
            order.append(change.name)
        }
        hand(lock)
    }

    /// Forgets the changes that wait; under the lock.
    func discard() {
        waiting = [:]
        order = []
    }

    /// Waits for the next change; nil at the end, or when the task is cancelled.
    func next(_ lock: Guard) async -> SeenChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock.withLock {
                    if Task.isCancelled { isFinished = true }
                    // Two who wait at once would each take half of the changes: the earlier ends.
                    if let earlier = consumer { lock.whenFree { earlier.resume(returning: nil) } }
                    consumer = continuation
                    hand(lock)
                }
            }
        } onCancel: {
            lock.withLock {
                isFinished = true
                hand(lock)
            }
        }
    }

    private func hand(_ lock: Guard) {
        guard let waiter = consumer, !order.isEmpty || isFinished else { return }
        consumer = nil
        let change = isFinished ? nil : waiting.removeValue(forKey: order.removeFirst())
        lock.whenFree { waiter.resume(returning: change) }
    }
}
