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
        var isWhole = true
        if let since, !difference.isComplete {
            isWhole = try await isRecordWhole(since: since.looked, in: difference)
        }
        if let since, !isWhole, since.durable > 0 {
            // A power cut may have taken the changes after that. None of them has left this machine.
            difference = try await defaults.difference(of: domain, since: since.durable)
        }
        let values = try await values(in: difference, of: domain, rule)
        var missing = Set(difference.removed.map { RoamingKey(domain: domain, name: $0) })
        // Nobody knows how the values of an older database came about, and when.
        var isOlder = false
        var lost: [RoamingKey] = []
        if let since, !difference.isComplete {
            if !isWhole {
                isOlder = try await !isRecordWhole(since: since.durable, in: difference)
            }
            for (key, base) in try state.bases(in: domain)
            where base.digest != .ofNothing && values[key] == nil && !missing.contains(key) {
                if !isOlder {
                    missing.insert(key)
                } else if try state.edit(of: key)?.isRemoval != true {
                    lost.append(key)
                }
            }
        }
        var unknown: [RoamingKey: [UInt8]] = [:]
        let hasNewKeys = try state.hasNewKeys(domain)
        if hasNewKeys {
            let whole = try await defaults.wholeDifference(of: domain)
            unknown = try await self.values(in: whole, of: domain, rule)
                .filter { values[$0.key] == nil && !missing.contains($0.key) }
        }
        // Invariant 7. What becomes durable is not noted: other domains were not looked at yet.
        if try hasNewKeys || missing.contains(where: { try isChangedBack($0, to: nil) })
            || values.contains(where: { try isChangedBack($0.key, to: $0.value) })
        {
            try await defaults.synchronize()
            try await beforeStep("synchronized")
        }
        try await beforeStep("looked")
        let times = since == nil ? [:] : try await times(of: Array(values.keys) + missing)
        let scan = Scan(isFirst: since == nil, isOlder: isOlder, times: times)
        var next = replica
        try state.connection.transaction { () throws(SQLiteError) in
            for (key, bytes) in values { try note(key, bytes, in: scan) }
            for key in missing where rule.covers(key.name) { try note(key, nil, in: scan) }
            for (key, bytes) in unknown {
                // The other keys roamed before, and have not changed since.
                guard try state.base(of: key) == nil, try state.edit(of: key) == nil else {
                    continue
                }
                try note(key, bytes, in: Scan(isFirst: true, isOlder: isOlder, times: [:]))
            }
            for key in lost where rule.covers(key.name) {
                // It comes back from the engine.
                try state.removeBase(of: key)
                next.revision = 0
            }
            if !lost.isEmpty { try state.write(next) }
            try state.write(generation: difference.generation, of: domain)
        }
        replica = next
    }

    /// Whether a key that was edited has the value of its base again.
    private func isChangedBack(
        _ key: RoamingKey, to archive: [UInt8]?
    ) throws(SQLiteError) -> Bool {
        guard try state.edit(of: key) != nil else { return false }
        return try (state.base(of: key)?.digest ?? .ofNothing) == ValueDigest(of: archive)
    }

    /// The values of a difference that roam.
    private func values(
        in difference: DomainDifference, of domain: String, _ rule: RoamChoice.Rule
    ) async throws -> [RoamingKey: [UInt8]] {
        var values: [RoamingKey: [UInt8]] = [:]
        for (key, bytes) in difference.changed where rule.covers(key) {
            values[RoamingKey(domain: domain, name: key)] = bytes
        }
        for key in difference.large where rule.covers(key) {
            if let bytes = try await archive(of: key, in: domain) {
                values[RoamingKey(domain: domain, name: key)] = bytes
            }
        }
        return values
    }

    /// What is known about a look at a domain.
    private struct Scan {
        /// Whether the keys have not roamed before.
        let isFirst: Bool
        /// Whether the database was put back to an earlier state.
        let isOlder: Bool
        /// When keys were changed, in microseconds since 1970.
        let times: [RoamingKey: Int64]
    }

    /// Notes a value that may be an edit.
    private func note(
        _ key: RoamingKey, _ archive: [UInt8]?, in scan: Scan
    ) throws(SQLiteError) {
        var base = try state.base(of: key)
        let known = try state.edit(of: key)
        if (base?.digest ?? .ofNothing) == ValueDigest(of: archive) {
            if let known { try forget(known) }
            return
        }
        if scan.isOlder, base != nil {
            // What was here before is unknown, so the value comes from no version.
            base?.mark = nil
            if let base { try state.write(base, of: key) }
        }
        let moment: EditMoment =
            if let heard = heard[key] {
                .at(heard)
            } else if scan.isFirst {
                known?.moment ?? .unknown
            } else if let time = scan.times[key] {
                .noted(time)
            } else {
                scan.isOlder ? .unknown : .at(clock())
            }
        try state.write(
            EditedKey(
                key: key, moment: moment, isRemoval: archive == nil,
                obstacle: archive.flatMap(Self.obstacle)))
    }

    /// Forgets an edit, because its key has the value of its base again.
    func forget(_ edit: EditedKey) throws(SQLiteError) {
        if let base = try state.base(of: edit.key),
            base.mark == nil || base.isDoubtful && !replica.isDoubtful
        {
            // The engine has lost the base, and gets it again.
            guard edit.moment != .asBase else { return }
            if case .known = base.time { return try state.write(.asBase(base, of: edit.key)) }
        }
        try state.removeEdit(of: edit.key)
    }

    /// How many keys a call names.
    private static let keysOfCall = 1000

    /// When keys of a domain were changed, in microseconds since 1970: those without a signal.
    private func times(of keys: [RoamingKey]) async throws -> [RoamingKey: Int64] {
        guard let domain = keys.first?.domain else { return [:] }
        let unheard = keys.filter { heard[$0] == nil }.map(\.name)
        var times: [RoamingKey: Int64] = [:]
        for start in stride(from: 0, to: unheard.count, by: Self.keysOfCall) {
            let part = Array(unheard[start..<min(start + Self.keysOfCall, unheard.count)])
            for change in try await defaults.changeTimes(of: part, in: domain) ?? [] {
                times[RoamingKey(domain: domain, name: change.key)] = change.time.map {
                    Int64(clamping: $0) * 1_000_000
                }
            }
        }
        return times
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
