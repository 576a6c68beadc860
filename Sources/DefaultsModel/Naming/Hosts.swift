/// The identity of a machine, by which its layers are kept: 1 to 64 of `[A-Za-z0-9._-]`.
///
/// It is the machine ID, and the host name of a machine that has none. What is stored for a machine
/// that is not known yet is kept by the name that it was given, which is an identity until then.
package struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    package static let maximumLength = 64

    /// The identity's text; ASCII only.
    package let name: String

    /// A machine that has no name of its own.
    package static let localhost = HostID(checked: "localhost")

    private init(checked name: String) {
        self.name = name
    }

    /// Takes text as an identity; nil where it is empty, too long or has another character.
    package init?(_ name: some StringProtocol) {
        guard (1...HostID.maximumLength).contains(name.utf8.count),
            name.utf8.allSatisfy(HostID.isAllowed)
        else { return nil }
        self.name = String(name)
    }

    /// Whether the byte may stand in an identity.
    static func isAllowed(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || Domain.isElementByte(byte)
    }

    /// The identity's text.
    package var description: String { name }

    /// Orders by bytes.
    package static func < (one: HostID, other: HostID) -> Bool {
        one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}

/// A machine: its identity, which stays, and the name that people know it by, which may change.
package struct Host: Hashable, Sendable {
    /// The identity, by which its layers are kept.
    package let id: HostID
    /// The host name, as the system gives it; it need not be one that `@host:NAME` can spell.
    package let name: String

    /// Pairs an identity with a name.
    package init(id: HostID, name: String) {
        self.id = id
        self.name = name
    }

    /// The name without the domain that it may end with: `box` of `box.example.org`.
    var shortName: String { String(name.prefix { $0 != "." }) }
}

/// The machines that a database knows: this one, and others by the names that they had when they last
/// wrote to it.
///
/// ```swift
/// let hosts = HostNames(of: Host(id: box, name: "box.example.org"), others: [Host(id: far, name: "far")])
/// try Domain("org.example.Editor@host:far", on: hosts).layer  // .host(far)
/// try Domain("org.example.Editor@host:box", on: hosts).layer  // .host(box), the same as @host
/// ```
///
/// Invariants:
/// 1. The spelling that is given for a machine stands for that machine.
/// 2. A name that several machines have stands for this one, if it is among them, else for none.
package struct HostNames: Sendable {
    /// This machine, which `@host` means.
    package private(set) var this: Host
    /// The others that have told their names.
    package let others: [Host]
    private let othersByID: [HostID: Host]
    /// The others by their names, and by these up to the first dot.
    private let othersByName: [String: [HostID]]
    private let othersByShortName: [String: [HostID]]

    /// A machine that has no name of its own and knows no other.
    package static let localhost = HostNames(of: Host(id: .localhost, name: HostID.localhost.name))

    /// Gathers machines.
    ///
    /// - Parameters:
    ///   - this: This machine.
    ///   - others: The others, no two with the same identity; this machine itself is passed over.
    package init(of this: Host, others: [Host] = []) {
        self.this = this
        let others = others.filter { $0.id != this.id && !$0.name.isEmpty }
        self.others = others
        othersByID = Dictionary(others.map { ($0.id, $0) }) { first, _ in first }
        othersByName = Dictionary(grouping: others, by: \.name).mapValues { $0.map(\.id) }
        othersByShortName = Dictionary(grouping: others, by: \.shortName)
            .mapValues { $0.map(\.id) }
    }

    /// Notes that this machine has another name now.
    package mutating func rename(to name: String) {
        this = Host(id: this.id, name: name)
    }

    /// The machine whose values an identity stands for that was the name of a machine when they were
    /// stored; nil where it is the identity of a machine, or nobody has that name.
    package func owner(of literal: HostID) -> HostID? {
        let machines = machines(named: literal.name)
        return machines.count == 1 && machines[0] != literal ? machines[0] : nil
    }

    /// The name of a machine, as the system gave it; nil for one that has told none.
    package func name(of host: HostID) -> String? {
        host == this.id ? this.name : othersByID[host]?.name
    }

    /// What stands behind `@host:` for a machine: its name, where no other has that, else its identity.
    func spelling(of host: HostID) -> String {
        guard let name = name(of: host), HostID(name) != nil, machines(named: name) == [host]
        else { return host.name }
        return name
    }

    /// The machines that a name may stand for; none for one that nobody has.
    ///
    /// This machine goes before others, an identity before a name, and a whole name before the part
    /// of one up to the first dot.
    func machines(named name: String) -> [HostID] {
        if name == this.id.name || name == this.name { return [this.id] }
        if let id = HostID(name), othersByID[id] != nil { return [id] }
        if name == this.shortName { return [this.id] }
        return othersByName[name] ?? othersByShortName[name] ?? []
    }
}
