import DBus
import DefaultsModel
import DefaultsStorage
import DefaultsXfconf

/// The signals of Xfconf's interface.
extension XfconfDoor {
    func makeSignals() -> KeySignals {
        KeySignals(
            Self.signals, on: face,
            by: KeySignals.Rules(
                haveDomain: { $0.name.hasPrefix(ChannelName.prefix) },
                haveKey: PropertyName.isProperty,
                signal: { [unowned self] in try propertySignal(for: $0) }))
    }

    /// The signal for a change of a property; nil if programs do not see the change.
    private func propertySignal(for change: KeySignals.Change) throws -> KeySignal? {
        guard let channel = ChannelName(domain: change.domain.name) else { return nil }
        // A layer whose last file was removed may have changed, too.
        let visible = try face.visible(change, in: face.layersOfDesktop(channel.domain))
        if case .hidden = visible { return nil }
        let property = [Value.string(channel.description), .string(change.key.name)]
        guard let stored = visible.stored, let value = stored.property else {
            return KeySignal(
                member: Xfconf.propertyRemoved.name, arguments: property, size: 0)
        }
        return KeySignal(
            member: Xfconf.propertyChanged.name, arguments: property + [.variant(value.value)],
            size: stored.archive.count)
    }
}
