import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage

// Invariants
//
// 1. The signals of desktops' interfaces have values, as these interfaces demand. They exist only if
//    the interface is served, only for the keys that it has, and only on the bus. Each is sent to its
//    receivers one by one, and never to all. What each of them may read is looked up when the signal is
//    sent, however long that has waited.
// 2. A signal has the value at the moment when it is sent. So no program gets an older value after a
//    newer one, and nothing that waits has a value.
// 3. A change that does not change what programs see has no signal.
// 4. However much changes at once, other work has its turn, and what was sent is written before more
//    is sent.

/// The changes of keys whose signals wait, for one service of a desktop.
struct DesktopChanges {
    /// A key of a layer.
    struct Change: Hashable {
        let domain: Domain
        let key: Key
    }

    /// In the order of the changes, each once.
    private var waiting: [Change] = []
    private var known: Set<Change> = []
    /// Who listens; nil before the first signal.
    var listeners: Listeners?
    /// Whether they are being sent.
    var areBeingSent = false

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ keys: [Key], of domain: Domain) {
        for key in keys {
            let change = Change(domain: domain, key: key)
            if known.insert(change).inserted { waiting.append(change) }
        }
    }

    /// Takes the first changes.
    mutating func take(_ count: Int) -> [Change] {
        let taken = Array(waiting.prefix(count))
        waiting.removeFirst(taken.count)
        known.subtract(taken)
        return taken
    }
}

/// A signal of a desktop's interface, for one key.
struct DesktopSignal {
    let member: MemberName
    let arguments: [Value]
    /// The size of the value's archive, in bytes.
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

/// Sends the signals of desktops' interfaces.
extension DefaultsObject {
    /// The most signals that are sent before other work has its turn.
    private static let mostSignalsAtOnce = 1000
    /// While programs leave much unread, larger values are not sent: the bus keeps what is unread.
    private static let largestWhileUnread = 1 << 10

    /// Sends the signals for changes of keys that a service of a desktop has.
    func send(
        _ announcements: [Announcement], of desktop: DesktopService, to listeners: Listeners
    ) {
        guard !disk.hasEnded else { return }
        var changes = desktopChanges[desktop] ?? DesktopChanges()
        changes.listeners = listeners
        for announcement in announcements where desktop.mayHave(announcement.domain) {
            let keys = (try? keys(of: announcement)) ?? []
            changes.add(keys.filter(desktop.mayHave), of: announcement.domain)
        }
        desktopChanges[desktop] = changes
        guard !changes.areBeingSent else { return }
        sendSomeSignals(of: desktop)
        guard desktopChanges[desktop]?.isEmpty == false else { return }
        desktopChanges[desktop]?.areBeingSent = true
        Task(executorPreference: connection.loop) { await self.sendWaitingSignals(of: desktop) }
    }

    private func sendWaitingSignals(of desktop: DesktopService) async {
        while desktopChanges[desktop]?.isEmpty == false, !disk.hasEnded {
            await connection.flush()
            sendSomeSignals(of: desktop)
        }
        desktopChanges[desktop]?.areBeingSent = false
    }

    /// Sends the signals of some changes that wait.
    private func sendSomeSignals(of desktop: DesktopService) {
        guard !disk.hasEnded else { return }
        let receivers = receivers(of: desktop)
        let count = max(1, Self.mostSignalsAtOnce / max(1, receivers.count))
        for change in desktopChanges[desktop]?.take(count) ?? [] {
            guard !receivers.isEmpty, let signal = try? signal(for: change, of: desktop) else {
                continue
            }
            send(signal, of: desktop, about: change.domain, to: receivers)
        }
    }

    /// Who gets the signals of a service that are sent in this turn of the loop.
    func receivers(of desktop: DesktopService) -> [Signals.Receiver] {
        desktopChanges[desktop]?.listeners.map(signals.receivers(_:)) ?? []
    }

    /// Sends a signal to those that may read the domain.
    func send(
        _ signal: DesktopSignal, of desktop: DesktopService, about domain: Domain,
        to receivers: [Signals.Receiver]
    ) {
        for receiver in receivers where receiver.scope?.mayRead(domain) ?? true {
            send(signal, of: desktop, to: receiver.name)
        }
    }

    private func signal(
        for change: DesktopChanges.Change, of desktop: DesktopService
    ) throws -> DesktopSignal? {
        switch desktop {
        case .xfconf: try propertySignal(for: change)
        case .portal: try settingSignal(for: change)
        case .dconf: nil
        }
    }

    /// What programs see of a key after a change of one of its layers.
    ///
    /// - Parameter layers: The strongest first.
    func visible(
        _ change: DesktopChanges.Change, in layers: [Domain]
    ) throws -> VisibleChange {
        var isBelow = false
        for layer in layers {
            isBelow = isBelow || layer == change.domain
            guard self.layers.mayHaveKeys(layer),
                let stored = try database.value(layer, change.key)
            else { continue }
            return isBelow ? .value(stored) : .hidden
        }
        // The layers of other machines have no part in it.
        return isBelow ? .removal : .hidden
    }

    /// The keys of a change.
    ///
    /// If the announcement has no names, all keys of the layer may have changed.
    private func keys(of announcement: Announcement) throws -> [Key] {
        let names = announcement.changed + announcement.removed
        guard names.isEmpty else { return names }
        let before = Generation(rawValue: announcement.generation.rawValue - 1)
        let removed = try database.view.changes(of: announcement.domain, since: before).removed
        return try database.keys(of: announcement.domain) + removed
    }

    /// Sends a signal.
    ///
    /// No caller waits for it, so a failure is not reported.
    private func send(_ signal: DesktopSignal, of desktop: DesktopService, to receiver: BusName) {
        let address = desktop.signals
        connection.assumeIsolated { connection in
            guard !connection.isLargelyUnread || signal.size <= Self.largestWhileUnread else {
                return
            }
            try? connection.emit(address.path, address.interface, signal.member, to: receiver) {
                try $0.writeValues(signal.arguments)
            }
        }
    }
}
