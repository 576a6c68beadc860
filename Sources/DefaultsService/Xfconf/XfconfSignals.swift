import DBus
import DefaultsModel
import DefaultsStorage
import DefaultsXfconf

/// The signals of Xfconf's interface.
extension DefaultsObject {
    /// The signal for a change of a property; nil if programs do not see the change.
    func propertySignal(for change: DesktopChanges.Change) throws -> DesktopSignal? {
        guard let channel = ChannelName(domain: change.domain.name) else { return nil }
        // A layer whose last file was removed may have changed, too.
        let visible = try visible(change, in: allLayers(of: channel))
        if case .hidden = visible { return nil }
        let property = [Value.string(channel.description), .string(change.key.name)]
        guard let stored = visible.stored, let value = stored.property else {
            return DesktopSignal(
                member: Xfconf.propertyRemoved.name, arguments: property, size: 0)
        }
        return DesktopSignal(
            member: Xfconf.propertyChanged.name, arguments: property + [.variant(value.value)],
            size: stored.archive.count)
    }
}
