internal import Glibc
package import KeyedArchive
internal import ValuePaths

/// What one owner has done to one key: a value of the domain `org.defaultsd.Applied`.
///
/// It is written in the same change as the key. It never roams, because it is about what this machine had
/// before.
package struct AppliedRow: Sendable {
    /// What the key had before the owner.
    package enum Former: Sendable {
        /// No value of the user's own.
        case absence
        /// What the owner wanted already.
        case equal
        /// This value.
        case archive(KeyedArchive)
    }

    /// What the owner has done to a part.
    package struct Part: Sendable {
        /// The path, as text.
        package let path: String
        package let deed: Deed

        package enum Deed: Sendable {
            /// It has put these elements into a list, and taken those out of it.
            case elements(added: [KeyedArchive], removed: [KeyedArchive])
            /// It has set an entry or a field, which had another value or none.
            case value(applied: ValueChecksum, former: KeyedArchive?)
        }
    }

    package let owner: Owner
    package let place: KeyPlace
    /// The value that the owner has set; nil if it has removed the key.
    package var applied: ValueChecksum?
    package var former: Former
    /// Empty if the owner wants the whole value.
    package var parts: [Part]
    /// Whether the value is the user's from then on.
    package var isOnce: Bool

    package init(
        owner: Owner, place: KeyPlace, applied: ValueChecksum?, former: Former, parts: [Part] = [],
        isOnce: Bool = false
    ) {
        self.owner = owner
        self.place = place
        self.applied = applied
        self.former = former
        self.parts = parts
        self.isOnce = isOnce
    }

    /// Whether a value is what the owner has made of the key.
    package func isIntact(_ live: KeyedArchive?) -> Bool { live.map(ValueChecksum.init) == applied }
}

extension AppliedRow {
    /// In which way a key is not as the owner has made it.
    package enum Drift: String, Sendable {
        /// It has another value, or other parts.
        case changed
        /// It has no value any more.
        case removed
        /// It has a value again.
        case present
        /// The row is damaged.
        case unknown
    }

    /// How a value differs from what the owner has made of it; nil if it holds.
    ///
    /// - Parameter shown: The value without its exact type.
    package func drift(from live: KeyedArchive?, shown: KeyedArchive?) -> Drift? {
        guard !isOnce, !isIntact(live) else { return nil }
        guard let shown else { return .removed }
        guard applied != nil else { return .present }
        return !parts.isEmpty && ValueParts.hold(parts, in: shown) ? nil : .changed
    }
}

// MARK: As an archive

extension AppliedRow {
    /// Why a row cannot be used.
    package enum Fault: Error, Hashable {
        /// A later version of the tool has written it.
        case later
        /// It is not a row.
        case damaged
    }

    private static let version = 1

    /// A row as it is stored.
    fileprivate struct Stored: Codable {
        struct Part: Codable {
            var path: String
            var added: [Bytes]?
            var removed: [Bytes]?
            var applied: String?
            var before: Bytes?
        }
        /// What the owner wants of the key.
        ///
        /// The words are looked for in the bytes of a row, in which values of the user's can be, too.
        enum Kind: String, Codable {
            case whole = "defaultsd:whole-value"
            case once = "defaultsd:value-once"
            case absence = "defaultsd:no-value"
            case parts = "defaultsd:parts-of-value"
        }
        /// An archive inside the row.
        struct Bytes: Codable {
            var archive: [UInt8]
        }
        var version: Int
        var owner: String
        var domain: String
        var key: String
        var applied: String?
        /// `absent`, `equal` or `value`.
        var before: String
        var value: Bytes?
        var parts: [Part]?
        var kind: Kind
    }

    private var kind: Stored.Kind {
        if !parts.isEmpty { return .parts }
        if isOnce { return .once }
        return applied == nil ? .absence : .whole
    }

    /// Whether a stored row says of a whole value that an owner has made it so, by the row's bytes.
    ///
    /// Decoding ten thousand rows would take longer than all else.
    static func isSaid(
        _ applied: ValueChecksum?, once isOnce: Bool, by row: [UInt8]
    ) -> Bool {
        func has(_ kind: Stored.Kind) -> Bool { row.contains(word: kind.rawValue) }
        if isOnce { return has(.once) }
        guard let applied else { return has(.absence) }
        return has(.whole) && row.contains(word: applied.text)
    }

    /// The row as it is stored.
    package func archive() throws -> KeyedArchive {
        var stored = Stored(
            version: Self.version, owner: owner.name, domain: place.domain, key: place.key,
            applied: applied?.text, before: "absent", kind: kind)
        switch former {
        case .absence: break
        case .equal: stored.before = "equal"
        case .archive(let archive):
            stored.before = "value"
            stored.value = Stored.Bytes(archive: archive.bytes)
        }
        if !parts.isEmpty { stored.parts = parts.map(Stored.Part.init) }
        return try KeyedArchiveEncoder().encode(stored)
    }

    /// Reads a stored row.
    ///
    /// - Throws: ``Fault``.
    ///
    /// - Parameter bytes: Its archive.
    package init(_ bytes: [UInt8]) throws(Fault) {
        let archive: KeyedArchive
        do throws(ArchiveError) {
            archive = try KeyedArchive(validating: bytes)
        } catch {
            throw .damaged
        }
        // A later version may have another form.
        guard let number = try? archive.value(at: ValuePath("version")),
            let version = try? KeyedArchiveDecoder().decode(Int.self, from: number)
        else { throw .damaged }
        guard version <= Self.version else { throw .later }
        let stored: Stored
        do {
            stored = try KeyedArchiveDecoder().decode(Stored.self, from: archive)
        } catch {
            throw .damaged
        }
        guard let owner = Owner(stored.owner) else { throw .damaged }
        self.owner = owner
        place = KeyPlace(domain: stored.domain, key: stored.key)
        if let text = stored.applied {
            guard let sum = ValueChecksum(text) else { throw .damaged }
            applied = sum
        } else {
            applied = nil
        }
        switch (stored.before, stored.value) {
        case ("absent", _): former = .absence
        case ("equal", _): former = .equal
        case ("value", let bytes?): former = .archive(try bytes.read())
        default: throw .damaged
        }
        var parts: [Part] = []
        for part in stored.parts ?? [] { parts.append(try part.read()) }
        self.parts = parts
        isOnce = stored.kind == .once
    }
}

extension AppliedRow.Stored.Bytes {
    fileprivate func read() throws(AppliedRow.Fault) -> KeyedArchive {
        do throws(ArchiveError) {
            return try KeyedArchive(validating: archive)
        } catch {
            throw .damaged
        }
    }
}

extension AppliedRow.Stored.Part {
    fileprivate init(_ part: AppliedRow.Part) {
        path = part.path
        switch part.deed {
        case .elements(let added, let removed):
            self.added = added.map { .init(archive: $0.bytes) }
            self.removed = removed.map { .init(archive: $0.bytes) }
        case .value(let applied, let former):
            self.applied = applied.text
            before = former.map { .init(archive: $0.bytes) }
        }
    }

    fileprivate func read() throws(AppliedRow.Fault) -> AppliedRow.Part {
        guard let applied else {
            var (all, none): ([KeyedArchive], [KeyedArchive]) = ([], [])
            for bytes in added ?? [] { all.append(try bytes.read()) }
            for bytes in removed ?? [] { none.append(try bytes.read()) }
            return .init(path: path, deed: .elements(added: all, removed: none))
        }
        guard let sum = ValueChecksum(applied) else { throw .damaged }
        return .init(path: path, deed: .value(applied: sum, former: try before?.read()))
    }
}

extension [UInt8] {
    /// Whether the bytes of a word are among them.
    fileprivate func contains(word: String) -> Bool {
        let word = Array(word.utf8)
        return withUnsafeBytes { bytes in
            guard let first = word.first, var rest = bytes.baseAddress else { return false }
            let end = rest + bytes.count
            while end - rest >= word.count,
                let hit = memchr(rest, Int32(first), end - rest - word.count + 1)
            {
                if memcmp(hit, word, word.count) == 0 { return true }
                rest = UnsafeRawPointer(hit) + 1
            }
            return false
        }
    }
}
