import Synchronization

/// What happened, in its order, noted from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let log = Mutex<[Entry]>([])

    var entries: [Entry] { log.withLock { $0 } }

    func append(_ entry: Entry) {
        log.withLock { $0.append(entry) }
    }
}
