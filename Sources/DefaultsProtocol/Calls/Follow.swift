package import DBus
import DefaultsTerms

/// For clients that are connected to the daemon itself, without a bus.
extension Contract {
    /// The same as ``Attach``, and from now on each change of these domains is sent with its values:
    /// ``ChangedValuesSignal``.
    package enum Follow: ArchiveAttachCall {
        package typealias Reply = AttachReply<[UInt8]>

        package static let method = attachMethod("Follow")
    }

    /// The same as ``AttachValues``, and from now on each change of these domains is sent with the
    /// names of its keys: ``ChangedSignal``.
    package enum FollowValues: ValueAttachCall {
        package typealias Reply = AttachReply<Value>

        package static let method = attachMethod("FollowValues")
    }

    /// Ends what ``Follow`` or ``FollowValues`` has begun for these domains.
    package enum Unfollow: Call {
        package static let method = MethodDeclaration(
            "Unfollow", in: [domainsArgument])

        package typealias Arguments = [String]
        package typealias Reply = Void

        package static func writeArguments(
            _ domains: [String], to writer: inout MessageWriter
        ) throws {
            try writer.writeStrings(domains)
        }

        /// Reads the domains.
        package static func readArguments(from reader: inout MessageReader) throws -> [String] {
            try reader.readStrings()
        }
    }
}

/// The signal `ChangedValues`: one change with its values, for those who follow its domain.
package struct ChangedValuesSignal: Sendable {
    /// Its declaration.
    package static let declaration = SignalDeclaration(
        "ChangedValues",
        [
            .domain, .layer, Argument("changed", "a{say}"), Argument("large", "as"),
            Argument("removed", "as"), .generation, Argument("origin", "s"),
        ])

    /// A rule that matches the signals, on a connection without a bus.
    package static let rule = MatchRule(
        path: Contract.objectPath, interface: Contract.interface, member: declaration.name)

    /// The keys that were set, with archives that are small enough to be sent.
    package let changed: [(key: String, archive: [UInt8])]
    /// The same change without values: its names are all keys that were set or removed.
    package let change: ChangedSignal

    /// Makes a signal.
    ///
    /// - Parameters:
    ///   - change: The change without values.
    ///   - archives: The archives of its keys; nil if they are not sent.
    package init(_ change: ChangedSignal, archives: [(key: String, archive: [UInt8])]?) {
        self.change = change
        changed = archives ?? []
    }

    /// The keys that were set, and whose archives are not sent.
    private var large: [String] { changed.isEmpty ? change.changed : [] }

    /// Whether the signal has all values of the change.
    ///
    /// If not, the keys have to be read. A signal without any name is for a change with too many
    /// names.
    package var isComplete: Bool {
        changed.count == change.changed.count && !(changed.isEmpty && change.removed.isEmpty)
    }

    /// Writes the arguments.
    package func write(to writer: inout MessageWriter) throws {
        try writer.writeString(change.domain)
        try writer.writeString(change.layer)
        try writer.writeArchives {
            for (key, archive) in changed { try $0.writeArchive(archive, forKey: key) }
        }
        try writer.writeStrings(large)
        try writer.writeStrings(change.removed)
        try writer.writeUInt64(change.generation)
        try writer.writeString(change.origin)
    }

    /// Reads a signal.
    ///
    /// - Throws: `DBusError` if its arguments do not match the contract.
    package init(_ signal: Signal) throws {
        let arguments = signal.arguments
        guard arguments.count == 7, case .string(let domain) = arguments[0],
            case .string(let layer) = arguments[1], case .dictionary(_, _, let set) = arguments[2],
            let large = arguments[3].strings, let removed = arguments[4].strings,
            case .uint64(let generation) = arguments[5], case .string(let origin) = arguments[6]
        else { throw ChangedSignal.isOther }
        changed = try set.map { entry in
            guard case .string(let key) = entry.key, case .bytes(let archive) = entry.value
            else { throw ChangedSignal.isOther }
            return (key, archive)
        }
        change = ChangedSignal(
            domain: domain, layer: layer, changed: changed.map(\.key) + large, removed: removed,
            generation: generation, origin: origin)
    }
}

/// The signal `Ending`: the daemon ends, and closes the connection without a bus.
///
/// The calls that it has not answered before that were not carried out.
package enum EndingSignal {
    /// Its declaration.
    package static let declaration = SignalDeclaration("Ending")

    /// A rule that matches the signal, on a connection without a bus.
    package static let rule = MatchRule(
        path: Contract.objectPath, interface: Contract.interface, member: declaration.name)
}
