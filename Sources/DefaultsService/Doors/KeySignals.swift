import DBus
import DefaultsCore
import DefaultsModel
import DefaultsStorage

// Invariants
//
// 1. The signals of doors have values, if the desktops' interfaces demand that. They exist only if the
//    door is open, only for the keys that it has, and only on the bus. Each is sent to its
//    receivers one by one, and never to all. What each of them may read is looked up when the signal is
//    sent, however long that has waited.
// 2. A signal has the value at the moment when it is sent. So no program gets an older value after a
//    newer one, and nothing that waits has a value.
// 3. A change that does not change what programs see has no signal.
// 4. However much changes at once, other work has its turn, and what was sent is written before more
//    is sent.

/// A signal of a door, for one key.
struct KeySignal {
    let member: MemberName
    let arguments: [Value]
    /// The size of the value's archive, in bytes; 0 for a signal without a value.
    let size: Int
}

/// What programs see of a change of a key.
enum VisibleChange {
    /// The key has this value.
    case value(StoredValue)
    /// The key has no value any more.
    case removal
    /// Nothing: a stronger layer has the key.
    case hidden

    /// The value that is stored, if any is.
    var stored: StoredValue? {
        if case .value(let stored) = self { stored } else { nil }
    }
}

/// The signals of a door that has one for each change of a key.
final class KeySignals {
    /// A key of a layer.
    struct Change: Hashable {
        let domain: Domain
        let key: Key
    }

    /// What the door has.
    struct Rules {
        /// Whether a domain may have keys whose changes have signals.
        let haveDomain: (Domain) -> Bool
        /// Whether programs see a key of such a domain.
        let haveKey: (Key) -> Bool
        /// The signal for a change; nil if programs do not see the change, or hear of it later.
        let signal: (Change) throws -> KeySignal?
    }

    /// The most signals that are sent before other work has its turn.
    private static let mostAtOnce = 1000
    /// While programs leave much unread, larger values are not sent: the bus keeps what is unread.
    private static let largestWhileUnread = 1 << 10

    /// The signals, as match rules see them.
    let address: SignalAddress
    private let face: BusFace
    private let rules: Rules
    /// The changes whose signals wait, in their order, each once.
    private var waiting: [Change] = []
    private var known: Set<Change> = []
    /// Who listens; nil before the first signal.
    private var listeners: Listeners?
    /// Whether they are being sent.
    private var areBeingSent = false

    init(_ address: SignalAddress, on face: BusFace, by rules: Rules) {
        self.address = address
        self.face = face
        self.rules = rules
    }

    /// Sends the signals for changes.
    func send(_ announcements: [Announcement], to listeners: Listeners) {
        guard !face.store.hasEnded else { return }
        self.listeners = listeners
        for announcement in announcements where rules.haveDomain(announcement.domain) {
            let keys = (try? keys(of: announcement)) ?? []
            add(keys.filter(rules.haveKey), of: announcement.domain)
        }
        guard !areBeingSent else { return }
        sendSome()
        guard !waiting.isEmpty else { return }
        areBeingSent = true
        // All of this stays on this thread.
        nonisolated(unsafe) let signals = self
        face.start { _ in await signals.sendWaiting() }
    }

    /// Sends a signal to those that may read the domain.
    func send(_ signal: KeySignal, about domain: Domain) {
        send(signal, about: domain, to: receivers)
    }

    private func add(_ keys: [Key], of domain: Domain) {
        for key in keys {
            let change = Change(domain: domain, key: key)
            if known.insert(change).inserted { waiting.append(change) }
        }
    }

    private func take(_ count: Int) -> [Change] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        known.subtract(taken)
        return taken
    }

    private nonisolated(nonsending) func sendWaiting() async {
        while !waiting.isEmpty, !face.store.hasEnded {
            await face.connection.flush()
            sendSome()
        }
        areBeingSent = false
    }

    /// Sends the signals of some changes that wait.
    private func sendSome() {
        guard !face.store.hasEnded else { return }
        let receivers = receivers
        for change in take(max(1, Self.mostAtOnce / max(1, receivers.count))) {
            guard !receivers.isEmpty, let signal = try? rules.signal(change) else { continue }
            send(signal, about: change.domain, to: receivers)
        }
    }

    /// Who gets the signals that are sent in this turn of the loop.
    private var receivers: [Signals.Receiver] {
        listeners.map(face.signals.receivers(_:)) ?? []
    }

    /// Sends a signal.
    ///
    /// No caller waits for it, so a failure is not reported.
    private func send(
        _ signal: KeySignal, about domain: Domain, to receivers: [Signals.Receiver]
    ) {
        let address = address
        for receiver in receivers where receiver.scope?.mayRead(domain) ?? true {
            face.connection.assumeIsolated { connection in
                guard !connection.isLargelyUnread || signal.size <= Self.largestWhileUnread else {
                    return
                }
                try? connection.emit(
                    address.path, address.interface, signal.member, to: receiver.name
                ) {
                    try $0.writeValues(signal.arguments)
                }
            }
        }
    }

    /// The keys of a change.
    ///
    /// If the announcement has no names, all keys of the layer may have changed.
    private func keys(of announcement: Announcement) throws -> [Key] {
        let names = announcement.changed + announcement.removed
        guard names.isEmpty else { return names }
        let before = Generation(rawValue: announcement.generation.rawValue - 1)
        let view = face.store.view
        let removed = try view.changes(of: announcement.domain, since: before).removed
        return try view.keys(of: announcement.domain) + removed
    }
}

extension BusFace {
    /// What programs see of a key after a change of one of its layers.
    ///
    /// - Parameter layers: The strongest first.
    func visible(_ change: KeySignals.Change, in layers: [Domain]) throws -> VisibleChange {
        var isBelow = false
        for layer in layers {
            isBelow = isBelow || layer == change.domain
            guard self.layers.mayHaveKeys(layer),
                let stored = try store.view.value(layer, change.key)
            else { continue }
            return isBelow ? .value(stored) : .hidden
        }
        // The layers of other machines have no part in it.
        return isBelow ? .removal : .hidden
    }
}
