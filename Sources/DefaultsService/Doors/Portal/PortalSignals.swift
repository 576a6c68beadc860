import DBus
import DefaultsCore
import DefaultsModel
import DefaultsPortal
import DefaultsStorage

// Invariants
//
// 1. If a setting has no value here any more, the value of the portal's next backend is in force. The
//    portal knows it, and the signal has it.
// 2. An answer of the portal is used only if the setting still has no value here, and only if it is a
//    value that the setting can have.

/// The signals of the portal's interface.
extension PortalDoor {
    /// How long the portal has for its answer.
    private static let patience = Duration.seconds(10)

    func makeSignals() -> KeySignals {
        KeySignals(
            Self.signals, on: face,
            by: KeySignals.Rules(
                haveDomain: { $0.name == Portal.namespace },
                haveKey: { AppearanceKey(rawValue: $0.name) != nil },
                signal: { [unowned self] in try settingSignal(for: $0) }))
    }

    /// The signal for a change of a setting; nil if programs do not see the change, or if the portal is
    /// asked first.
    private func settingSignal(for change: KeySignals.Change) throws -> KeySignal? {
        guard let setting = AppearanceKey(rawValue: change.key.name) else { return nil }
        let visible = try face.visible(change, in: layersOfAppearance)
        if case .hidden = visible { return nil }
        if let value = visible.stored.flatMap({ setting.value(of: $0.archive) }) {
            return Self.signal(for: setting, value)
        }
        queryPortal(about: setting, after: change)
        return nil
    }

    private static func signal(for setting: AppearanceKey, _ value: Value) -> KeySignal {
        KeySignal(
            member: Portal.settingChanged.name,
            arguments: [
                .string(Portal.namespace), .string(setting.rawValue), .variant(value),
            ],
            size: 0)
    }

    /// Asks the portal for the value of its next backend, if it runs.
    ///
    /// Nothing waits for the answer.
    private func queryPortal(about setting: AppearanceKey, after change: KeySignals.Change) {
        // The answer comes on this thread.
        nonisolated(unsafe) let door = self
        let finish: @Sendable (Result<Value, any Error>) -> Void = { reply in
            let value = (try? reply.get()).flatMap { setting.value(reported: $0) }
            door.announce(setting, after: change, as: value ?? setting.unset)
        }
        face.connection.assumeIsolated { connection in
            connection.call(
                Portal.frontEnd.name, Portal.objectPath, Portal.frontEnd.interface,
                Portal.read.name, timeout: Self.patience, mayStart: false,
                write: {
                    try $0.writeValues([.string(Portal.namespace), .string(setting.rawValue)])
                },
                read: { try $0.readValue() }, completion: finish)
        }
    }

    private func announce(
        _ setting: AppearanceKey, after change: KeySignals.Change, as value: Value
    ) {
        guard !face.store.hasEnded, let visible = try? face.visible(change, in: layersOfAppearance),
            visible.stored.flatMap({ setting.value(of: $0.archive) }) == nil
        else { return }
        if case .hidden = visible { return }
        keySignals?.send(Self.signal(for: setting, value), about: change.domain)
    }
}
