import Synchronization

/// What happened, in its order, noted from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let log = Mutex<[Entry]>([])

    var entries: [Entry] { log.withLock { $0 } }

    func append(_ entry: Entry) {
        log.withLock { $0.append(entry) }
    }
}

/// Something that is off until it is turned on, from any thread.
final class Switch: Sendable {
    private let state = Atomic(false)

    var isOn: Bool { state.load(ordering: .acquiring) }

    func turnOn() {
        state.store(true, ordering: .releasing)
    }
}
