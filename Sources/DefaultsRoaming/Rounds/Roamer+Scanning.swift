import DefaultsClient
import KeyedArchive
import SQLite
import RoamingTerms

/// Finding out what has changed here.
extension Roamer {
    /// Looks at the changes of a domain since the last time, and notes its edits.
    func scan(_ domain: String) async throws {
        guard let rule = choice.rule(for: domain) else { return }
        let since = try state.generations(of: domain)
        var difference = try await defaults.difference(of: domain, since: since?.looked ?? 0)
        if let since, !difference.isComplete, since.durable > 0 {
            // A power cut may have taken the changes after that. None of them has left this machine.
            difference = try await defaults.difference(of: domain, since: since.durable)
        }
        var values = difference.changed.mapValues(Optional.some)
        for key in difference.large where rule.covers(key) {
            if let bytes = try await archive(of: key, in: domain) { values[key] = bytes }
        }
        var missing = Set(difference.removed)
        // Nobody knows how the values of an older database came about, and when.
        var isOlder = false
        var lost: [String] = []
        if let since, !difference.isComplete {
            isOlder = try await !isRecordWhole(since: since.durable, in: difference)
            for (key, base) in try state.bases(in: domain)
            where base.digest != .ofNothing && values[key] == nil && !missing.contains(key) {
                if isOlder { lost.append(key) } else { missing.insert(key) }
            }
        }
        try await beforeStep("looked")
        let scan = Scan(
            domain: domain, generation: difference.generation, isFirst: since == nil,
            isOlder: isOlder)
        try state.connection.transaction { () throws(SQLiteError) in
            for (key, bytes) in values where rule.covers(key) {
                try note(key, bytes, in: scan)
            }
            for key in missing where rule.covers(key) { try note(key, nil, in: scan) }
            for key in lost where rule.covers(key) {
                // It comes back from the engine.
                try state.removeBase(of: RoamingKey(domain: domain, name: key))
                replica.revision = 0
            }
            if !lost.isEmpty { try state.write(replica) }
            try state.write(generation: difference.generation, of: domain)
        }
    }

    /// What is known about a look at a domain.
    private struct Scan {
        let domain: String
        let generation: UInt64
        let isFirst: Bool
        let isOlder: Bool
    }

    /// Notes a value that may be an edit.
    private func note(
        _ name: String, _ archive: [UInt8]?, in scan: Scan
    ) throws(SQLiteError) {
        let key = RoamingKey(domain: scan.domain, name: name)
        var base = try state.base(of: key)
        if (base?.digest ?? .ofNothing) == ValueDigest(of: archive) {
            // The engine has lost what is here, and gets it again.
            if try state.edit(of: key)?.moment != .asBase { try state.removeEdit(of: key) }
            return
        }
        if scan.isOlder, base != nil {
            // What was here before is unknown, so the value comes from no version.
            base?.mark = nil
            if let base { try state.write(base, of: key) }
        }
        let moment: EditMoment =
            if scan.isFirst {
                .unknown
            } else if let heard = heard[key] {
                .at(heard)
            } else {
                scan.isOlder ? .unknown : .at(clock())
            }
        try state.write(
            EditedKey(key: key, moment: moment, obstacle: archive.flatMap(Self.obstacle)))
    }

    /// Why a value stays; nil if it roams.
    static func obstacle(to archive: [UInt8]) -> String? {
        archive.count > RoamTerms.largestValue
            ? "it has \(archive.count) bytes, and values of more than "
                + "\(RoamTerms.largestValue) bytes do not roam"
            : nil
    }

    /// The archive of a key; nil if there is none.
    func archive(of key: String, in domain: String) async throws -> [UInt8]? {
        do {
            return try await defaults.archive(forKey: key, in: domain).archive.bytes
        } catch let error as DefaultsError where error.code == .notFound {
            return nil
        } catch is ArchiveError {
            // It is damaged; the daemon repairs it.
            return nil
        }
    }

    /// Whether a domain has only forgotten removals since a generation, so that a key which is missing was
    /// removed.
    private func isRecordWhole(
        since generation: UInt64, in difference: DomainDifference
    ) async throws -> Bool {
        // The property is read after the reply, as the contract says.
        try await defaults.status().recordStart <= generation
            && generation <= difference.generation
    }
}
