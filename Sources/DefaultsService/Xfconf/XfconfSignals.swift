import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsXfconf

// Invariants
//
// 1. The signals of Xfconf have values, as its interface demands. They exist only if the interface is
//    served, only for the domains of channels, and only on the bus. Each is sent to its receivers one
//    by one, and never to all.
// 2. A signal has the value at the moment when it is sent. So no program gets an older value after a
//    newer one, and nothing that waits has a value.
// 3. A change that does not change what programs see has no signal.
// 4. However much changes at once, other work has its turn, and what was sent is written before more
//    is sent.

/// The changes of properties whose signals wait.
struct PropertyChanges {
    /// A property of a layer.
    struct Change: Hashable {
        let domain: Domain
        let key: Key
    }

    /// In the order of the changes, each once.
    private var waiting: [Change] = []
    private var known: Set<Change> = []
    /// Who gets the signals.
    var receivers: [DefaultsObject.Receiver] = []
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

/// Sends the signals of Xfconf's interface.
extension DefaultsObject {
    /// The most signals that are sent before other work has its turn.
    private static let mostPropertiesAtOnce = 1000
    /// While programs leave much unread, larger values are not sent: the bus keeps what is unread.
    private static let largestWhileUnread = 1 << 10

    /// Sends the signals for changes of channels.
    func sendProperties(_ announcements: [Announcement], to listeners: Listeners) {
        guard !disk.hasEnded else { return }
        // A value is never sent to all, as a program in a sandbox may connect in this moment.
        propertyChanges.receivers = listeners.all.map { ($0.name, scope(of: $0.credentials)) }
        for announcement in announcements where announcement.domain.isOfChannel {
            let keys = (try? keys(of: announcement)) ?? []
            propertyChanges.add(keys.filter(PropertyName.isProperty), of: announcement.domain)
        }
        guard !propertyChanges.areBeingSent else { return }
        sendSomeProperties()
        guard !propertyChanges.isEmpty else { return }
        propertyChanges.areBeingSent = true
        Task(executorPreference: connection.loop) { await self.sendWaitingProperties() }
    }

    private func sendWaitingProperties() async {
        while !propertyChanges.isEmpty, !disk.hasEnded {
            await connection.flush()
            sendSomeProperties()
        }
        propertyChanges.areBeingSent = false
    }

    /// Sends the signals of some changes that wait.
    private func sendSomeProperties() {
        guard !disk.hasEnded else { return }
        let receivers = propertyChanges.receivers
        let count = max(1, Self.mostPropertiesAtOnce / max(1, receivers.count))
        for change in propertyChanges.take(count) {
            guard !receivers.isEmpty, let signal = try? propertySignal(change) else { continue }
            for receiver in receivers where receiver.scope?.mayRead(change.domain) ?? true {
                send(signal, to: receiver.name)
            }
        }
    }

    private struct PropertySignal {
        let channel: ChannelName
        let key: Key
        /// The value that programs see; nil if there is none.
        let value: PropertyValue?
        let size: Int
    }

    /// The signal for a change; nil if a stronger layer has the key.
    private func propertySignal(_ change: PropertyChanges.Change) throws -> PropertySignal? {
        guard let channel = ChannelName(domain: change.domain.name) else { return nil }
        var isBelow = false
        // A layer whose last file was removed may have changed, too.
        for layer in try allLayers(of: channel) {
            isBelow = isBelow || layer == change.domain
            guard layers.mayHaveKeys(layer), let stored = try database.value(layer, change.key)
            else { continue }
            guard isBelow else { return nil }
            return PropertySignal(
                channel: channel, key: change.key, value: stored.property,
                size: stored.archive.count)
        }
        // The layers of other machines have no part in it.
        guard isBelow else { return nil }
        return PropertySignal(channel: channel, key: change.key, value: nil, size: 0)
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
    private func send(_ signal: PropertySignal, to receiver: BusName) {
        let declaration = signal.value == nil ? Xfconf.propertyRemoved : Xfconf.propertyChanged
        connection.assumeIsolated { connection in
            guard !connection.isLargelyUnread || signal.size <= Self.largestWhileUnread else {
                return
            }
            try? connection.emit(
                Xfconf.objectPath, Xfconf.interface, declaration.name, to: receiver
            ) { writer in
                try writer.writeString(signal.channel.description)
                try writer.writeString(signal.key.name)
                if let value = signal.value { try writer.writeValue(.variant(value.value)) }
            }
        }
    }
}

extension Domain {
    /// Whether it may be the domain of a channel.
    fileprivate var isOfChannel: Bool { name.hasPrefix(ChannelName.prefix) }
}
