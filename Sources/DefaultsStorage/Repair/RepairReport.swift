package import DefaultsModel
internal import DefaultsTerms
internal import Wording

/// What a repair has kept and what is lost.
struct RepairReport {
    /// What was wrong with the store, as a sentence.
    let reason: String
    /// When the repair was, in seconds since 1970.
    let time: UInt64
    /// Whether it is unknown what changed after the newest backup.
    var isBlind = false
    /// How many keys were read from the damaged store.
    var kept = 0
    /// The keys of which an earlier value was read from the damaged store.
    var earlier: [EntryName] = []
    /// What was taken from backups.
    var filled: [Filling] = []
    /// The keys that are known to be lost.
    var missing: [EntryName] = []
    /// How many other keys are lost.
    ///
    /// Their names are unknown.
    var unnamed = 0
    /// The domains of these keys.
    var short: [Domain] = []

    init(reason: String, at time: UInt64) {
        self.reason = reason
        self.time = time
    }

    /// The keys that were taken from a backup.
    struct Filling {
        let backup: String
        private(set) var count = 0
        /// The first keys of each domain; all of them if the domain has few.
        private(set) var names: [EntryName] = []
        /// The number of keys in each domain.
        private(set) var domains: [Domain: Int] = [:]

        init(backup: String) {
            self.backup = backup
        }

        mutating func add(_ name: EntryName) {
            count += 1
            domains[name.domain, default: 0] += 1
            if domains[name.domain, default: 0] <= RepairReport.mostNamesOfDomain {
                names.append(name)
            }
        }
    }

    /// The most names that are kept for one domain.
    private static let mostNamesOfDomain = 100
}

extension RepairReport {
    /// The difference from before, by domain.
    ///
    /// For a domain with very many differences, no keys are listed. Clients must read it again.
    var domains: [RepairedDomain] {
        var domains: [Domain: RepairedDomain] = [:]
        func add(_ name: EntryName, _ list: WritableKeyPath<RepairedDomain, [Key]>) {
            domains[name.domain, default: RepairedDomain(domain: name.domain)][keyPath: list]
                .append(name.key)
        }
        for name in earlier + filled.flatMap(\.names) { add(name, \.changed) }
        for name in missing { add(name, \.removed) }
        let large = filled.flatMap(\.domains).filter { $0.value > RepairReport.mostNamesOfDomain }
        for domain in large.map(\.key) + short {
            domains[domain] = RepairedDomain(domain: domain)
        }
        return domains.values.sorted { $0.domain < $1.domain }
    }
}

/// The words of a report.
extension RepairReport: CustomStringConvertible {
    /// The most names that each list of the report contains.
    private static let mostNames = 20

    var description: String {
        ([reason, keptSentence] + earlierSentences + filled.map(sentence) + lostSentences)
            .joined(separator: " ")
    }

    private var keptSentence: String {
        kept > 0
            ? "It was rebuilt: \(RepairReport.keys(kept, "was", "were")) read from it."
            : filled.isEmpty
                ? "It was rebuilt: no key could be read from it."
                : "It was rebuilt. For every key, a backup had the newest readable value."
    }

    private var earlierSentences: [String] {
        guard !earlier.isEmpty else { return [] }
        let count = RepairReport.keys(earlier.count, "has", "have")
        return ["\(count) an earlier value: \(RepairReport.list(earlier, earlier.count))."]
    }

    private func sentence(_ filling: Filling) -> String {
        let name = filling.backup.split(separator: "/").last ?? ""
        return
            "\(RepairReport.keys(filling.count, "was", "were")) taken from the backup \(name), "
            + "with the values of that time: \(RepairReport.list(filling.names, filling.count))."
    }

    private var lostSentences: [String] {
        var sentences: [String] = []
        if !missing.isEmpty {
            let count = RepairReport.keys(missing.count, "is", "are")
            sentences.append("\(count) lost: \(RepairReport.list(missing, missing.count)).")
        }
        if unnamed > 0 {
            let count = RepairReport.keys(
                unnamed, "with an unknown name is", "with unknown names are")
            sentences.append("\(count) lost.")
        }
        if isBlind {
            sentences.append(
                filled.isEmpty
                    ? "No backup had more. If there were other keys, they are lost."
                    : "Changes after that backup, if any, are lost.")
        } else if sentences.isEmpty {
            sentences.append("Nothing else is known to be missing.")
        }
        return sentences
    }

    private static func keys(_ count: Int, _ one: String, _ several: String) -> String {
        counted(count, "key", verb: one, several)
    }

    private static func list(_ names: [EntryName], _ count: Int) -> String {
        let told = names.prefix(mostNames).map { name in
            "\(name.key.quotedForMessage) of \(name.domain)"
        }
        let rest = count - told.count
        return told.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension Notice {
    static func repaired(_ report: RepairReport) -> Notice {
        Notice(severity: .repair, description: report.description)
    }
}

/// A domain that differs from before the repair.
package struct RepairedDomain: Sendable, Hashable {
    /// The domain.
    package let domain: Domain
    /// The keys that have an earlier value now.
    package internal(set) var changed: [Key] = []
    /// The keys that are lost.
    ///
    /// There may be more, with unknown names.
    package internal(set) var removed: [Key] = []
}
