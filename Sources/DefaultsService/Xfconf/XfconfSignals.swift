import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsXfconf

// Invariants
//
// 1. The signals of Xfconf have values, as its interface demands. They exist only if the interface is
//    served, only for the domains of channels, and only on the bus. Each is sent to its receivers one
//    by one, by the rule of `SendingSignals`.
// 2. A signal has the value at the moment when it is sent. So no program gets an older value after a
//    newer one.
// 3. A change that does not change what programs see has no signal.

/// Sends the signals of Xfconf's interface.
extension DefaultsObject {
    /// While programs leave much unread, larger values are not sent: the bus keeps what is unread.
    private static let largestWhileUnread = 1 << 10

    /// The signals of Xfconf, as match rules see them.
    static let xfconfSignals = SignalAddress(
        members: [Xfconf.propertyChanged.name, Xfconf.propertyRemoved.name],
        interface: Xfconf.interface, path: Xfconf.objectPath)

    /// Sends the signals for changes of channels.
    func sendProperties(_ announcements: [Announcement], to listeners: Listeners) {
        let receivers = receivers(listeners)
        guard !disk.hasEnded, receivers?.isEmpty != true else { return }
        for announcement in announcements {
            guard let channel = ChannelName(domain: announcement.domain.name) else { continue }
            let able = receivers?.filter {
                $0.scope?.mayRead(announcement.domain) ?? true
            }
            for signal in (try? propertySignals(announcement, channel)) ?? [] {
                guard let able else {
                    send(signal, to: nil)
                    continue
                }
                for receiver in able { send(signal, to: receiver.name) }
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

    /// The signals for a change; none if stronger layers have all that it changes.
    private func propertySignals(
        _ announcement: Announcement, _ channel: ChannelName
    ) throws -> [PropertySignal] {
        let layers = try layers(of: channel)
        guard let position = layers.firstIndex(of: announcement.domain) else { return [] }
        return try keys(of: announcement).filter(PropertyName.isProperty).compactMap { key in
            for (index, layer) in layers.enumerated() {
                guard let stored = try database.value(layer, key) else { continue }
                guard index >= position else { return nil }
                return PropertySignal(
                    channel: channel, key: key, value: stored.property, size: stored.archive.count)
            }
            return PropertySignal(channel: channel, key: key, value: nil, size: 0)
        }
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

    /// Sends a signal; nobody waits for it, so a failure is not reported.
    private func send(_ signal: PropertySignal, to receiver: BusName?) {
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
