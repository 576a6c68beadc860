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

/// A change of what holds for a key.
public struct ValueChange<Value> {
    /// What held before; nil where that was a large value, which is not kept, or one of another type.
    public let oldValue: Value?
    /// What holds now.
    public let newValue: Value
    /// Whether this process made the change.
    public let isOwn: Bool
}

extension ValueChange: Sendable where Value: Sendable {}
extension ValueChange: Equatable where Value: Equatable {}

/// A change of one of a domain's keys, whose values are had by a key with the type.
public struct DomainChange: Sendable {
    /// The name of the key.
    public let key: String
    /// Whether this process made the change.
    public let isOwn: Bool
    /// The layer from which the value comes now; nil where there is none.
    public var layer: DefaultsLayer? { seen.new.layer }

    fileprivate let seen: SeenChange
    fileprivate let store: Store

    init(_ seen: SeenChange, of store: Store) {
        key = seen.name.string
        isOwn = seen.isOwn
        self.seen = seen
        self.store = store
    }

    /// The change as a key has it; nil where it is another key's.
    ///
    /// ```swift
    /// for await change in defaults.changes() {
    ///     if let change = change.values(of: .playSound) { show(change.newValue) }
    /// }
    /// ```
    public func values<Value>(of key: DefaultsKey<Value>) -> ValueChange<Value>? {
        key.id == seen.name ? store.values(of: seen, as: key) : nil
    }
}

extension Store {
    /// The values of a change as a key has them.
    func values<Value>(of seen: SeenChange, as key: DefaultsKey<Value>) -> ValueChange<Value> {
        let oldValue: Value?
        if case .large = seen.old.entry?.content {
            oldValue = nil
        } else {
            let held: Value?? = try? value(of: seen.old, as: key)
            oldValue = held.map { $0 ?? key.defaultValue }
        }
        return ValueChange(
            oldValue: oldValue, newValue: value(holding: seen.new, of: key), isOwn: seen.isOwn)
    }
}
