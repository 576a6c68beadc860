/// A change of the value of a key, as a store has seen it.
struct SeenChange: Sendable {
    let name: KeyName
    let old: Found
    let new: Found
    /// Who made it.
    let source: ChangeSource
}

/// An observer of the changes of some keys, or of all keys.
///
/// It keeps the newest change of each key that was not fetched, so at most one for each key.
final class Observer: Sendable {
    fileprivate struct State {
        var waiting: [KeyName: SeenChange] = [:]
        var order: [KeyName] = []
        var consumer: CheckedContinuation<SeenChange?, Never>?
        var isFinished = false
    }

    private let names: Set<KeyName>?
    private let state = Guarded(State())
    /// Called after each change that was taken.
    private let onChange: (@Sendable () -> Void)?

    /// - Parameter names: The keys; nil for all.
    init(of names: Set<KeyName>?, onChange: (@Sendable () -> Void)? = nil) {
        self.names = names
        self.onChange = onChange
    }

    func observes(_ name: KeyName) -> Bool {
        names?.contains(name) ?? true
    }

    /// Takes a change.
    func take(_ change: SeenChange, _ access: borrowing WriteAccess) {
        access[state].add(change)
        access[state].hand(access)
        if let onChange { access.whenFree(onChange) }
    }

    /// The next change that waits; nil if there is none.
    func takeNext(_ access: borrowing WriteAccess) -> SeenChange? {
        access[state].takeNext()
    }

    /// How many changes wait.
    func waiting(_ access: borrowing ReadAccess) -> Int {
        access[state].order.count
    }

    /// Forgets the changes that wait.
    func discard(_ access: borrowing WriteAccess) {
        access[state].discard()
    }

    /// Waits for the next change; nil at the end, or when the task is cancelled.
    func next(_ lock: ServiceLock) async -> SeenChange? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock.change { access in
                    let isCancelled = Task.isCancelled
                    access[state].wait(continuation, isCancelled: isCancelled, access)
                }
            }
        } onCancel: {
            lock.change { access in access[state].finish(access) }
        }
    }
}

extension Observer.State {
    fileprivate mutating func add(_ change: SeenChange) {
        guard let earlier = waiting[change.name] else {
            waiting[change.name] = change
            return order.append(change.name)
        }
        let both = SeenChange(
            name: change.name, old: earlier.old, new: change.new,
            source: change.source)
        waiting[change.name] = both
        // The value is again what the consumer saw last: there is no change.
        if both.old.entry.isSame(as: both.new.entry) {
            waiting[change.name] = nil
            order.removeAll { $0 == change.name }
        }
    }

    fileprivate mutating func discard() {
        waiting = [:]
        order = []
    }

    fileprivate mutating func wait(
        _ continuation: CheckedContinuation<SeenChange?, Never>, isCancelled: Bool,
        _ access: borrowing WriteAccess
    ) {
        if isCancelled { isFinished = true }
        // Two consumers at once would each get half of the changes, so the earlier one ends.
        if let earlier = consumer { access.whenFree { earlier.resume(returning: nil) } }
        consumer = continuation
        hand(access)
    }

    fileprivate mutating func finish(_ access: borrowing WriteAccess) {
        isFinished = true
        hand(access)
    }

    /// Gives the next change to the consumer, if there are both.
    fileprivate mutating func hand(_ access: borrowing WriteAccess) {
        guard let waiter = consumer, !order.isEmpty || isFinished else { return }
        consumer = nil
        let change = isFinished ? nil : takeNext()
        access.whenFree { waiter.resume(returning: change) }
    }

    fileprivate mutating func takeNext() -> SeenChange? {
        order.isEmpty ? nil : waiting.removeValue(forKey: order.removeFirst())
    }
}
