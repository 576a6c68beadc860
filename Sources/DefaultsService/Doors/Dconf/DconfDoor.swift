import DBus
import DefaultsCore
import DconfFiles
import DefaultsDconf
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import KeyedArchive

// Invariants
//
// 1. A call of `Change` is one change of all its settings, all or none. It has its reply when programs
//    find the change in the file, or an error if the file cannot be written. Then the change is kept, and is
//    in the next file that can be written.
// 2. A locked setting is not changed: an explicit change is refused as a whole, and the reset of a
//    directory leaves locked settings out.
// 3. Callers have the same rights as in the contract.

/// The door for programs that use libdconf: dconf's service, and the file that they read.
final class DconfDoor: Door {
    static let name = "dconf"
    static let summary = "those of programs that use dconf's library"
    static let busName = Dconf.busName
    static let signals = SignalAddress(
        members: [Dconf.notify.name], interface: Dconf.interface, path: Dconf.writer)

    let face: BusFace
    var settings: Settings { face.settings }
    var store: Store { face.store }
    /// What it knows.
    var state: DconfState

    init?(on face: BusFace, beside database: DatabaseLocation) {
        guard let places = DconfFile.Places(beside: database) else { return nil }
        self.face = face
        state = DconfState(DconfFile(places: places, schemas: SchemaIndex { .ofThisProcess() }))
    }

    static func directories(beside database: DatabaseLocation) -> DoorDirectories? {
        guard let places = DconfFile.Places(beside: database) else { return nil }
        return DoorDirectories(own: places.directories, read: SchemaCatalog.ownDirectories)
    }

    static func interfaces(
        _ method: (DoorMethod) -> Method
    ) -> [(path: ObjectPath, interface: Interface)] {
        let writer = Interface(
            Dconf.interface,
            methods: [
                method(DoorMethod(Dconf.initialize)),
                method(DoorMethod(Dconf.change, in: Dconf.changeInput, out: Dconf.changeOutput)),
            ],
            signals: [Dconf.notify])
        let information = Interface(
            Dconf.informationInterface,
            methods: [method(DoorMethod(Dconf.blame, out: Dconf.blameOutput))])
        return [(Dconf.writer, writer), (Dconf.information, information)]
    }

    func answer(_ call: MethodCall) throws {
        switch call.member {
        case Dconf.initialize: makeFile(call)
        case Dconf.change: try changeSettings(call)
        case Dconf.blame: try tellBlame(call)
        default: throw DBusError.unknownMethod(call.member, of: call.interface)
        }
    }

    nonisolated(nonsending) func begin() async { await startPublishing() }

    func changed(_ announcements: [Announcement], by maker: ObjectIdentifier?) {
        if maker != ObjectIdentifier(self) { noteChanges(announcements) }
    }

    nonisolated(nonsending) func published() async { await settingsPublished() }

    func freeMemory() { forgetSchemas() }

    func end() {
        for timer in [state.timer, state.askTimer] { timer?.cancel() }
    }

    private func tellBlame(_ call: MethodCall) throws {
        try face.checkUnconfined(call)
        try call.reply { try $0.writeString(state.blame.text) }
    }

    private func makeFile(_ call: MethodCall) {
        whenPublished { failure in
            if let failure {
                call.fail(DBusError(.failed, "dconf's file cannot be written. \(failure)"))
            } else {
                try? call.reply()
            }
        }
    }

    // MARK: Changes

    /// What a call changes, with archives to store.
    private struct PreparedChange: Sendable {
        var assignments: [(path: SettingsPath, archive: KeyedArchive?)] = []
        let directories: DconfDirectories
    }

    private func changeSettings(_ call: MethodCall) throws {
        let schemas = state.file.schemas
        state.blame.note(call)
        // The call goes on on this thread.
        nonisolated(unsafe) let door = self
        try face.prepare(call, isSlow: !schemas.isKnown) { arguments, names in
            let change = try DconfChange(try arguments.readBytes())
            var prepared = PreparedChange(directories: change.directories)
            for (path, value) in change.assignments {
                // This refuses a program in a sandbox that may not change the domain.
                _ = try names.domain(path.domain)
                guard !DconfDomains.isPrivate(path.domain) else {
                    throw ContractError(privateDomain: path.domain)
                }
                let archive = try value.map { try schemas.archive(of: $0, at: path) }
                if let archive { try ContractError.checkSize(of: archive) }
                prepared.assignments.append((path, archive))
            }
            return prepared
        } then: { _, call, change in
            try door.apply(change, for: call)
        }
    }

    private func apply(_ change: PreparedChange, for call: MethodCall) throws {
        var parts = SettingsParts()
        for (path, archive) in change.assignments {
            let (layer, key) = (try layerOfChange(path), try Key(path.key))
            try settings.locks.checkWritable(layer, [key])
            if let archive {
                guard try settings.differs(layer, key, from: archive) else { continue }
                parts.set(path, layer, .init(key: key, archive: archive.bytes))
            } else {
                for layer in try layersOfUsers(path)
                where try store.database.generation(layer, key) != nil {
                    try settings.locks.checkWritable(layer, [key])
                    parts.remove(path, layer, key)
                }
            }
        }
        let named = Set(change.assignments.map(\.path))
        for path in try paths(below: change.directories, changedBy: call)
        where !named.contains(path) {
            let key = try Key(path.key)
            for layer in try layersOfUsers(path)
            where try store.database.generation(layer, key) != nil {
                if try !settings.locks.isLocked(key, in: layer, shownBy: store.view) {
                    parts.remove(path, layer, key)
                }
            }
        }
        try make(parts, for: call)
    }

    /// The settings below directories that users may have set.
    ///
    /// A program in a sandbox resets what it may change, and does not hear of anything else.
    private func paths(
        below directories: DconfDirectories, changedBy call: MethodCall
    ) throws -> [SettingsPath] {
        guard !directories.isEmpty else { return [] }
        let names = face.changingNames(for: call)
        var paths: [SettingsPath] = []
        for domain in try store.database.domains() where state.isPublished(domain.name) {
            if case .host(let host) = domain.layer, host != store.hosts.this.id { continue }
            guard (try? names.domain(domain.name)) != nil else { continue }
            paths += try store.database.keys(of: domain).compactMap {
                SettingsPath(domain: domain.name, key: $0.name)
            }.filter { directories.contain($0) }
        }
        return Array(Set(paths))
    }

    private func make(_ parts: SettingsParts, for call: MethodCall) throws {
        let caller = face.caller(of: call)
        let proposals = parts.proposals(by: caller.origin)
        guard !proposals.isEmpty else { return answer(call, whenPublished: []) }
        let options = ChangeOptions(maker: ObjectIdentifier(self))
        try settings.change(proposals, by: caller, options) { _ in
            self.answer(call, whenPublished: Array(parts.paths))
        }
    }

    /// Replies to a call when its change is in the file.
    ///
    /// - Parameter paths: What it has changed.
    private func answer(_ call: MethodCall, whenPublished paths: [SettingsPath]) {
        state.lastTag += 1
        let tag = "\(face.connection.uniqueName?.string ?? ""):user:\(state.lastTag)"
        state.changed.formUnion(paths)
        showDomains(of: paths)
        if !paths.isEmpty { state.notices.append((paths.map(\.path), tag)) }
        whenPublished { failure in
            guard let failure else {
                try? call.reply { try $0.writeString(tag) }
                return
            }
            call.fail(
                DBusError(
                    .failed,
                    "The change is kept, but dconf's programs see it only when their file can be written. "
                        + failure))
        }
    }
}

/// The parts of a change of settings, by the layers of domains.
private struct SettingsParts {
    private var sets: [Domain: [ChangeProposal.Assignment]] = [:]
    private var removals: [Domain: [Key]] = [:]
    private(set) var paths: Set<SettingsPath> = []

    mutating func set(
        _ path: SettingsPath, _ layer: Domain, _ assignment: ChangeProposal.Assignment
    ) {
        sets[layer, default: []].append(assignment)
        paths.insert(path)
    }

    mutating func remove(_ path: SettingsPath, _ layer: Domain, _ key: Key) {
        removals[layer, default: []].append(key)
        paths.insert(path)
    }

    func proposals(by origin: String) -> [ChangeProposal] {
        Set(sets.keys).union(removals.keys).map {
            ChangeProposal(
                domain: $0, set: sets[$0] ?? [], removed: removals[$0] ?? [], origin: origin)
        }
    }
}

extension ContractError {
    /// Refuses a change of a domain that dconf's programs never see.
    fileprivate init(privateDomain name: String) {
        self.init(
            .accessDenied,
            "Settings of \(name) cannot be changed by dconf's interface. Use 'defaultsctl write' instead."
        )
    }
}
