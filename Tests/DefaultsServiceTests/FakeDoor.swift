import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

@testable import DefaultsService

/// The settings service of a desktop that does not exist: what a door takes at least.
///
/// Its programs read and write the keys of one domain by name, and hear of each change with the value.
final class FakeDoor: Door {
    static let name = "desk"
    static let summary = "the settings of a desktop that does not exist"
    static let busName: BusName = "org.example.Desk"
    static let path: ObjectPath = "/org/example/Desk"
    static let interface: InterfaceName = "org.example.Desk"
    static let settingChanged = SignalDeclaration(
        "SettingChanged", [Argument("desk", "s"), Argument("key", "s"), Argument("value", "v")])
    static let settingReset = SignalDeclaration(
        "SettingReset", [Argument("desk", "s"), Argument("key", "s")])
    static let signals = SignalAddress(
        members: [settingChanged.name, settingReset.name], interface: interface, path: path)

    /// The domain whose keys are the settings.
    static let domain = "org.example.Desk"

    private let face: BusFace
    private(set) lazy var keySignals: KeySignals? = KeySignals(
        Self.signals, on: face,
        by: KeySignals.Rules(
            haveDomain: { $0.name == Self.domain }, haveKey: { _ in true },
            signal: { [unowned self] in try signal(for: $0) }))

    init(on face: BusFace, beside database: DatabaseLocation) {
        self.face = face
    }

    static func interfaces(
        _ method: (DoorMethod) -> Method
    ) -> [(path: ObjectPath, interface: Interface)] {
        let (key, value) = (Argument("key", "s"), Argument("value", "v"))
        let methods = [
            DoorMethod("Read", in: [key], out: [value]), DoorMethod("Write", in: [key, value]),
            DoorMethod("Reset", in: [key]),
        ].map(method)
        return [
            (path, Interface(interface, methods: methods, signals: [settingChanged, settingReset]))
        ]
    }

    func answer(_ call: MethodCall) throws {
        switch call.member {
        case "Read": try read(call)
        case "Write": try write(call)
        case "Reset": try reset(call)
        default: throw DBusError.unknownMethod(call.member, of: call.interface)
        }
    }

    func refusal(for error: any Error) -> any Error {
        guard let error = error as? any ErrorReply, !(error is DBusError) else { return error }
        return DBusError("org.example.Desk.Refused", error.errorMessage)
    }

    private func read(_ call: MethodCall) throws {
        let key = try call.arguments { try Key($0.readString()) }
        let layers = try layers
        let view = face.view(for: call, of: layers[0])
        for layer in layers where face.layers.mayHaveKeys(layer) {
            guard let stored = try view.value(layer, key) else { continue }
            return try face.reply(to: call, with: stored) { try $1.writeValue(.variant($0)) }
        }
        throw DBusError("org.example.Desk.NoSuchKey", "There is no setting \(key.name).")
    }

    private func write(_ call: MethodCall) throws {
        // The call goes on on this thread.
        nonisolated(unsafe) let door = self
        try face.prepare(call) { arguments, names in
            let key = try Key(arguments.readString())
            guard case .variant(let value) = try arguments.readValue() else {
                throw DBusError(.invalidSignature, "The value is not a variant.")
            }
            // This refuses a program in a sandbox that may not change the domain.
            _ = try names.domain(Self.domain)
            let archive = try VariantForm.archive(of: value)
            try ContractError.checkSize(of: archive)
            return (key: key, archive: archive)
        } then: { face, call, setting in
            let layer = try face.layerOfChange(setting.key, in: Self.domain)
            try face.settings.set(
                layer, setting.key, to: setting.archive, by: face.caller(of: call)
            ) { door.answer(call, $0) }
        }
    }

    private func reset(_ call: MethodCall) throws {
        _ = try face.changingNames(for: call).domain(Self.domain)
        let key = try call.arguments { try Key($0.readString()) }
        let caller = face.caller(of: call)
        // Otherwise a value of all machines would show when that of this one has gone.
        let changes = try layers.filter {
            try $0.layer.isWritable && face.store.view.generation($0, key) != nil
        }.map { ChangeProposal(domain: $0, removed: [key], origin: caller.origin) }
        for change in changes { try face.settings.locks.checkWritable(change.domain, [key]) }
        guard !changes.isEmpty else { return try call.reply() }
        try face.settings.change(changes, by: caller) { self.answer(call, $0) }
    }

    private func answer(_ call: MethodCall, _ outcome: Settings.Outcome) {
        switch outcome {
        case .success: try? call.reply()
        case .failure(let error): call.fail(error)
        }
    }

    private var layers: [Domain] {
        get throws { try face.layersOfDesktop(Self.domain) }
    }

    private func signal(for change: KeySignals.Change) throws -> KeySignal? {
        let visible = try face.visible(change, in: layers)
        if case .hidden = visible { return nil }
        let setting = [Value.string(Self.domain), .string(change.key.name)]
        guard let stored = visible.stored else {
            return KeySignal(member: Self.settingReset.name, arguments: setting, size: 0)
        }
        let value = try VariantForm.value(validating: stored.archive)
        return KeySignal(
            member: Self.settingChanged.name,
            arguments: setting + [.variant(value)], size: stored.archive.count)
    }
}
