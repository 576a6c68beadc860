import DBus
import DefaultsClient
import DefaultsProtocol
import Synchronization

/// An event for a watcher.
enum WatchEvent: Sendable {
    case notice(ChangeNotice)
    /// A daemon has begun to serve.
    case newDaemon
}

/// The changes and the starts of daemons in one stream of limited length.
final class WatchEvents: Sendable {
    let stream: AsyncStream<WatchEvent>
    private let continuation: AsyncStream<WatchEvent>.Continuation
    private let isMissed = Atomic(false)

    private static let capacity = 1024

    private init() {
        (stream, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Self.capacity))
    }

    /// Begins to follow.
    ///
    /// After this returns, an event that is missed is reported as missed.
    static func follow(_ defaults: RemoteDefaults, in domain: String?) async throws -> WatchEvents {
        let events = WatchEvents()
        let owners = try await defaults.connection.ownerChanges(of: Contract.busName, limit: 64)
        let changes = try await defaults.changes(in: domain)
        let loop = defaults.connection.loop
        Task(executorPreference: loop) {
            for await element in owners where element.isArrival { events.add(.newDaemon) }
        }
        Task(executorPreference: loop) {
            do {
                for try await notice in changes { events.add(.notice(notice)) }
            } catch {
                // A signal with a different form. What it was about must be read again.
                events.add(.notice(.missed))
            }
            events.continuation.finish()
        }
        return events
    }

    /// Whether events were left out of the stream since the last call.
    func takeMissed() -> Bool {
        isMissed.exchange(false, ordering: .sequentiallyConsistent)
    }

    private func add(_ event: WatchEvent) {
        if case .dropped = continuation.yield(event) {
            isMissed.store(true, ordering: .sequentiallyConsistent)
        }
    }
}

extension SignalStream.Element {
    /// Whether the signal announces a new owner, or was lost and may have.
    fileprivate var isArrival: Bool {
        guard case .signal(let signal) = self else { return true }
        guard signal.arguments.count == 3, case .string(let owner) = signal.arguments[2] else {
            return false
        }
        return !owner.isEmpty
    }
}
