package import DefaultsModel
internal import Glibc
internal import SystemCalls

/// The names of machines, and what was stored for one by its name.
extension Database {
    /// The machines that the database knows: this one first, then the others, sorted by their
    /// identities.
    ///
    /// An unknown name is empty.
    ///
    /// - Throws: `.cannotRead` if the disk fails.
    package func knownHosts() throws(StorageError) -> [Host] {
        var others = Set(hosts.others.map(\.id))
        for (_, host) in try contents.hostLayers() { others.insert(host) }
        others.remove(hosts.this.id)
        return [hosts.this]
            + others.sorted().map { Host(id: $0, name: hosts.name(of: $0) ?? "") }
    }

    /// Moves values that were stored for a machine by its name, before its identity was known, to
    /// the layers of that machine.
    ///
    /// A key that the machine already has keeps its value there. A value is set in the new place
    /// before it is removed from the old one, so it is never missing in both. A damaged value stays
    /// in its place, for a repair.
    ///
    /// - Parameter made: Called with each change that this makes.
    /// - Throws: The errors of `commit(_:)`, and `.cannotRead`. The rest is not moved then.
    package func adoptHostLayers(_ made: (ChangeSet) -> Void) throws(StorageError) {
        for (domain, name) in try contents.hostLayers() {
            guard let owner = hosts.owner(of: name) else { continue }
            var keys = try keys(of: domain)[...]
            while !keys.isEmpty {
                let move = try move(of: &keys, from: domain, to: domain.inLayer(.host(owner)))
                if !move.set.changesNothing { made(try commit(move.set)) }
                if !move.removal.changesNothing { made(try commit(move.removal)) }
            }
        }
    }

    /// How much is moved in one change, in bytes.
    private static let bytesAtOnce = 4 << 20

    /// The next part of what is to be moved.
    private func move(
        of keys: inout ArraySlice<Key>, from domain: Domain, to home: Domain
    ) throws(StorageError) -> (set: ChangeProposal, removal: ChangeProposal) {
        var (set, removed, bytes) = ([ChangeProposal.Assignment](), [Key](), 0)
        while bytes < Database.bytesAtOnce, let key = keys.popFirst() {
            if try generation(home, key) == nil {
                guard let archive = try soundArchive(domain, key) else { continue }
                set.append(.init(key: key, archive: archive))
                bytes += archive.count
            }
            removed.append(key)
            bytes += key.length
        }
        var proposals = (
            set: ChangeProposal(domain: home, set: set, origin: ""),
            removal: ChangeProposal(domain: domain, removed: removed, origin: "")
        )
        proposals.set.note = ChangeNote(author: .service)
        proposals.removal.note = ChangeNote(author: .service)
        return proposals
    }

    /// The archive of a key; nil if it is damaged.
    private func soundArchive(_ domain: Domain, _ key: Key) throws(StorageError) -> [UInt8]? {
        do throws(StorageError) {
            return try value(domain, key)?.archive
        } catch {
            guard error.code == .damagedRow else { throw error }
            return nil
        }
    }

    /// This machine, if its name is to be noted by a flush: it writes a layer of this machine, or the
    /// name that is noted is an earlier one.
    ///
    /// The machine may have been renamed since it was asked last.
    func hostToNote(with changes: PendingChanges) -> Host? {
        let name = machine.name()
        if name != hosts.this.name { hosts.rename(to: name) }
        guard name != notedName else { return nil }
        let layer = Layer.host(hosts.this.id)
        return notedName != nil || changes.domains.keys.contains { $0.layer == layer }
            ? hosts.this : nil
    }
}

/// The machine that this process runs on.
struct Machine: Sendable {
    /// Its identity, which does not change.
    let id: HostID
    /// Gives the name that people know it by, which may change at any time.
    let name: @Sendable () -> String

    /// This machine, identified by its machine ID or, if it has none, by its host name.
    ///
    /// See [machine-id](https://www.freedesktop.org/software/systemd/man/latest/machine-id.html).
    static var current: Machine {
        Machine(id: machineID ?? HostID(HostName.current) ?? .localhost) { HostName.current }
    }

    private static var machineID: HostID? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let file = try? File(path, O_RDONLY), let bytes = try? file.read(128, at: 0),
                let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first,
                let id = HostID(line)
            {
                return id
            }
        }
        return nil
    }
}
