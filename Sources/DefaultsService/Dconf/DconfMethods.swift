import DBus
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

/// The interfaces of dconf's service, if the daemon serves it.
extension DefaultsObject {
    /// The interface of the object for the user's settings.
    var dconfInterface: Interface {
        Interface(
            Dconf.interface,
            methods: [
                Method(Dconf.initialize) { call in
                    try self.assumeIsolated { try $0.carryOut(call) { $0.makeFile($1) } }
                },
                Method(Dconf.change, in: Dconf.changeInput, out: Dconf.changeOutput) { call in
                    try self.assumeIsolated { try $0.carryOut(call) { try $0.changeSettings($1) } }
                },
            ],
            signals: [Dconf.notify])
    }

    /// The interface of the object that says who has changed settings.
    var dconfInformationInterface: Interface {
        Interface(
            Dconf.informationInterface,
            methods: [
                Method(Dconf.blame, out: Dconf.blameOutput) { call in
                    try self.assumeIsolated { try $0.carryOut(call) { try $0.tellBlame($1) } }
                }
            ])
    }

    private func tellBlame(_ call: MethodCall) throws {
        try checkUnconfined(call)
        try call.reply { try $0.writeString(dconf?.blame.text ?? "") }
    }

    private func makeFile(_ call: MethodCall) {
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
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
        guard let schemas = dconf?.file.schemas else { throw Self.hasEnded }
        dconf?.blame.note(call)
        try prepare(call, isSlow: !schemas.isKnown) { arguments, names in
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
        } then: { object, call, change in
            try object.apply(change, for: call)
        }
    }

    private func apply(_ change: PreparedChange, for call: MethodCall) throws {
        var parts = SettingsParts()
        for (path, archive) in change.assignments {
            let (layer, key) = (try layerOfChange(path), try Key(path.key))
            try checkWritable(layer, [key])
            if let archive {
                guard try differs(layer, key, from: archive) else { continue }
                parts.set(path, layer, .init(key: key, archive: archive.bytes))
            } else {
                for layer in try layersOfUsers(path)
                where try database.generation(layer, key) != nil {
                    try checkWritable(layer, [key])
                    parts.remove(path, layer, key)
                }
            }
        }
        let named = Set(change.assignments.map(\.path))
        for path in try paths(below: change.directories, changedBy: call)
        where !named.contains(path) {
            let key = try Key(path.key)
            for layer in try layersOfUsers(path) where try database.generation(layer, key) != nil {
                if try !isLocked(key, in: layer, shownBy: database.view) {
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
        let names = changingNames(for: call)
        var paths: [SettingsPath] = []
        for domain in try database.domains() where dconf?.isPublished(domain.name) == true {
            if case .host(let host) = domain.layer, host != hosts.this.id { continue }
            guard (try? names.domain(domain.name)) != nil else { continue }
            paths += try database.keys(of: domain).compactMap {
                SettingsPath(domain: domain.name, key: $0.name)
            }.filter { directories.contain($0) }
        }
        return Array(Set(paths))
    }

    private func make(_ parts: SettingsParts, for call: MethodCall) throws {
        let proposals = parts.proposals(by: origin(of: call))
        guard !proposals.isEmpty else { return answerWhenPublished(call) }
        dconf?.ownChange = Array(parts.paths)
        defer { dconf?.ownChange = nil }
        try make(proposals, for: call)
    }

    /// Replies to a call when its change is in the file.
    func answerWhenPublished(_ call: MethodCall) {
        let paths = dconf?.ownChange ?? []
        dconf?.lastTag += 1
        let tag = "\(connection.uniqueName?.string ?? ""):user:\(dconf?.lastTag ?? 0)"
        dconf?.changed.formUnion(paths)
        showDomains(of: paths)
        if !paths.isEmpty { dconf?.notices.append((paths.map(\.path), tag)) }
        // The call stays on this thread.
        nonisolated(unsafe) let call = call
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
