import DBus
import DefaultsCore
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsXfconf
import KeyedArchive

// Invariants
//
// 1. A property is set in the layer whose value counts, if the user may change it: in that of this
//    machine if it has the property, and otherwise in that of all machines.
// 2. A change that sets the value that programs see already changes nothing, as in Xfconf.
// 3. Changes are made by `Settings.change`, as all changes of calls are.

/// The methods of Xfconf's interface that change something.
extension XfconfDoor {
    func setProperty(_ call: MethodCall) throws {
        // The call goes on on this thread.
        nonisolated(unsafe) let door = self
        try face.prepare(call) { arguments, names in
            let property = try NamedProperty(from: &arguments)
            // This refuses a program in a sandbox that may not change the domain.
            _ = try names.domain(property.channel.domain)
            let archive = try PropertyValue.read(from: &arguments).archive()
            try ContractError.checkSize(of: archive)
            return (property: property, archive: archive)
        } then: { _, call, arguments in
            try door.set(arguments.property, to: arguments.archive, for: call)
        }
    }

    private func set(
        _ property: NamedProperty, to archive: KeyedArchive, for call: MethodCall
    ) throws {
        let key = property.key
        let layers = try layers(of: property.channel)
        let holder = try layers.first { try face.store.database.generation($0, key) != nil }
        let domain =
            if let holder, case .host = holder.layer { holder } else {
                try property.channel.domain(.domain)
            }
        try face.settings.locks.checkWritable(domain, [key])
        if let holder, try !face.settings.differs(holder, key, from: archive) {
            return try call.reply()
        }
        let assignment = ChangeProposal.Assignment(key: key, archive: archive.bytes)
        let caller = face.caller(of: call)
        try make(
            [ChangeProposal(domain: domain, set: [assignment], origin: caller.origin)], by: caller,
            for: call)
    }

    func resetProperty(_ call: MethodCall) throws {
        let names = face.changingNames(for: call)
        let (channel, name, base, isRecursive) = try call.arguments { reader in
            let channel = try ChannelName(reader.readString())
            let name = try reader.readString()
            let base = try PropertyBase(name)
            _ = try names.domain(channel.domain)
            return (channel, name, base, try reader.readBool())
        }
        let missing = XfconfError.notFound(name, in: channel)
        if isRecursive {
            try reset(base, of: channel, orThrow: missing, for: call)
        } else {
            guard case .property(let key) = base else { throw XfconfError.rootNeedsRecursion }
            try reset(key, of: channel, orThrow: missing, for: call)
        }
    }

    /// Removes the user's value of a property.
    private func reset(
        _ key: Key, of channel: ChannelName, orThrow missing: XfconfError, for call: MethodCall
    ) throws {
        let domains = try layers(of: channel).filter(\.layer.isWritable)
            .filter { try face.store.database.generation($0, key) != nil }
        guard !domains.isEmpty else { throw missing }
        try face.settings.locks.checkWritable(domains[0], [key])
        try remove(domains.map { ($0, [key]) }, for: call)
    }

    /// Removes the user's values of a property and all properties below it, except for those that are
    /// locked.
    private func reset(
        _ base: PropertyBase, of channel: ChannelName, orThrow missing: XfconfError,
        for call: MethodCall
    ) throws {
        var removals: [(domain: Domain, keys: [Key])] = []
        var isKnown = if case .root = base { true } else { false }
        for domain in try layers(of: channel) {
            let keys = try face.store.database.keys(of: domain).filter(base.covers)
            isKnown = isKnown || !keys.isEmpty
            guard domain.layer.isWritable else { continue }
            let free = try keys.filter {
                try !face.settings.locks.isLocked($0, in: domain, shownBy: face.store.view)
            }
            if !free.isEmpty { removals.append((domain, free)) }
        }
        guard isKnown else { throw missing }
        try remove(removals, for: call)
    }

    private func remove(_ removals: [(domain: Domain, keys: [Key])], for call: MethodCall) throws {
        let caller = face.caller(of: call)
        let changes = removals.map {
            ChangeProposal(domain: $0.domain, removed: $0.keys, origin: caller.origin)
        }
        guard !changes.isEmpty else { return try call.reply() }
        try make(changes, by: caller, for: call)
    }

    /// Makes a change, whose reply has no result.
    private func make(
        _ changes: [ChangeProposal], by caller: Caller, for call: MethodCall
    ) throws {
        // If the reply cannot be sent, the caller has got an error instead, or has left.
        try face.settings.change(changes, by: caller) { _ in try? call.reply() }
    }
}
