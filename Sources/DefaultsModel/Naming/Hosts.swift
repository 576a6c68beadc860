import DefaultsTerms

/// The ID of a machine, under which its layers are stored: 1 to 64 of `[A-Za-z0-9._-]`.
///
/// It is the machine ID, or the host name if the machine has no ID. Values for a machine that is
/// not known yet are stored under the name that the caller gave. That name is the ID until the
/// machine is known.
package struct HostID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The most bytes that it may have.
    package static let maximumLength = 64

    /// The identity's text; ASCII only.
    package let name: String

    /// A machine that has no name.
    package static let localhost = HostID(checked: "localhost")

    private init(checked name: String) {
        self.name = name
    }

    /// Makes an ID from a text; nil if it is empty, too long or contains another character.
    package init?(_ name: some StringProtocol) {
        guard (1...HostID.maximumLength).contains(name.utf8.count),
            name.utf8.allSatisfy(HostID.isAllowed)
        else { return nil }
        self.name = String(name)
    }

    /// Whether an ID may contain the byte.
    static func isAllowed(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || DomainRule.isElementByte(byte)
    }

    /// The identity's text.
    package var description: String { name }

    /// Compares by bytes.
    package static func < (one: HostID, other: HostID) -> Bool {
        one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}

/// A machine: its ID, which stays, and the name that people use, which may change.
package struct Host: Hashable, Sendable {
    /// The ID, under which its layers are stored.
    package let id: HostID
    /// The host name as the system reports it.
    ///
    /// `@host:NAME` cannot spell every host name.
    package let name: String

    /// Makes a host from an ID and a name.
    package init(id: HostID, name: String) {
        self.id = id
        self.name = name
    }

    /// The name without a DNS domain: `box` of `box.example.org`.
    var shortName: String { String(name.prefix { $0 != "." }) }
}

/// The machines that a database knows: this one, and the others by the names that they had when
/// they last wrote to it.
///
/// ```swift
/// let hosts = HostNames(of: Host(id: box, name: "box.example.org"), others: [Host(id: far, name: "far")])
/// try Domain("org.example.Editor@host:far", on: hosts).layer  // .host(far)
/// try Domain("org.example.Editor@host:box", on: hosts).layer  // .host(box), the same as @host
/// ```
///
/// Invariants:
/// 1. Parsing the spelling that is given for a machine leads to that machine.
/// 2. If several machines have a name, it means this machine if it is one of them, and otherwise
///    none of them.
package struct HostNames: Sendable {
    /// This machine, which `@host` means.
    package private(set) var this: Host
    /// The others whose names are known.
    package let others: [Host]
    private let othersByID: [HostID: Host]
    /// The others by their full names, and by these up to the first dot.
    private let othersByName: [String: [HostID]]
    private let othersByShortName: [String: [HostID]]

    /// A machine that has no name and knows no other machine.
    package static let localhost = HostNames(of: Host(id: .localhost, name: HostID.localhost.name))

    /// Makes a list of machines.
    ///
    /// - Parameters:
    ///   - this: This machine.
    ///   - others: The others, each with a different ID. This machine is ignored if it is among
    ///     them.
    package init(of this: Host, others: [Host] = []) {
        self.this = this
        let others = others.filter { $0.id != this.id && !$0.name.isEmpty }
        self.others = others
        othersByID = Dictionary(others.map { ($0.id, $0) }) { first, _ in first }
        othersByName = Dictionary(grouping: others, by: \.name).mapValues { $0.map(\.id) }
        othersByShortName = Dictionary(grouping: others, by: \.shortName)
            .mapValues { $0.map(\.id) }
    }

    /// Changes the name of this machine.
    package mutating func rename(to name: String) {
        this = Host(id: this.id, name: name)
    }

    /// The machine whose values are stored under an ID that was a host name at that time; nil if it
    /// is a real ID, or if no machine has that name.
    package func owner(of literal: HostID) -> HostID? {
        let machines = machines(named: literal.name)
        return machines.count == 1 && machines[0] != literal ? machines[0] : nil
    }

    /// The name of a machine as its system reported it; nil if it is unknown.
    package func name(of host: HostID) -> String? {
        host == this.id ? this.name : othersByID[host]?.name
    }

    /// The text after `@host:` for a machine: its name if no other machine has the name, otherwise
    /// its ID.
    func spelling(of host: HostID) -> String {
        guard let name = name(of: host), HostID(name) != nil, machines(named: name) == [host]
        else { return host.name }
        return name
    }

    /// The machines that a name may mean; empty if no machine has it.
    ///
    /// This machine comes before others, an ID before a name, and a full name before its part up to
    /// the first dot.
    func machines(named name: String) -> [HostID] {
        if name == this.id.name || name == this.name { return [this.id] }
        if let id = HostID(name), othersByID[id] != nil { return [id] }
        if name == this.shortName { return [this.id] }
        return othersByName[name] ?? othersByShortName[name] ?? []
    }
}
