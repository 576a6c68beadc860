internal import DefaultsModel

/// What a rescue has kept, and what it has not.
struct RescueReport {
    /// What was wrong with the store, as a sentence.
    let reason: String
    /// Whether nothing tells what came after the newest backup.
    var isBlind = false
    /// How many keys were read from the damaged store.
    var kept = 0
    /// The keys of which an earlier value was read there.
    var earlier: [EntryName] = []
    /// The keys that were taken from backups, by the path of the backup.
    var filled: [(backup: String, names: [EntryName])] = []
    /// The keys that are known to be lost.
    var missing: [EntryName] = []
    /// How many more are lost, whose names nothing tells.
    var unnamed = 0
    /// The domains of these.
    var short: [Domain] = []

    init(reason: String) {
        self.reason = reason
    }
}

extension RescueReport {
    /// What is not as it was, by domain.
    var domains: [RescuedDomain] {
        var domains: [Domain: RescuedDomain] = [:]
        for name in earlier + filled.flatMap(\.names) {
            guard let domain = name.domain else { continue }
            domains[domain, default: RescuedDomain(domain: domain)].changed.append(name.key)
        }
        for name in missing {
            guard let domain = name.domain else { continue }
            domains[domain, default: RescuedDomain(domain: domain)].removed.append(name.key)
        }
        for domain in short where domains[domain] == nil {
            domains[domain] = RescuedDomain(domain: domain)
        }
        return domains.values.sorted { $0.domain < $1.domain }
    }
}

/// The words of a report.
extension RescueReport: CustomStringConvertible {
    /// How many names of keys are told at most, for each of the two.
    private static let mostNames = 20

    var description: String {
        ([reason, keptSentence] + earlierSentences + filled.map(filledSentence) + lostSentences)
            .joined(separator: " ")
    }

    private var keptSentence: String {
        kept > 0
            ? "It was made anew: \(RescueReport.count(kept)) were read from it."
            : "It was made anew: no key could be read from it."
    }

    private var earlierSentences: [String] {
        earlier.isEmpty
            ? []
            : [
                "\(RescueReport.count(earlier.count)) were found as they were before: "
                    + "\(RescueReport.list(earlier))."
            ]
    }

    private func filledSentence(_ backup: String, _ names: [EntryName]) -> String {
        let name = backup.split(separator: "/").last ?? ""
        return
            "\(RescueReport.count(names.count)) were taken from the backup \(name), as they were "
            + "then: \(RescueReport.list(names))."
    }

    private var lostSentences: [String] {
        var sentences: [String] = []
        if !missing.isEmpty {
            let count = RescueReport.count(missing.count)
            sentences.append("\(count) are lost: \(RescueReport.list(missing)).")
        }
        if unnamed > 0 {
            let count = RescueReport.count(unnamed)
            sentences.append("\(count) more are lost, whose names are not known.")
        }
        if isBlind && filled.isEmpty && kept == 0 {
            sentences.append("There was no backup: it begins empty.")
        } else if isBlind {
            sentences.append("What was changed after that, if anything was, is lost.")
        } else if sentences.isEmpty {
            sentences.append("Nothing else is known to be missing.")
        }
        return sentences
    }

    private static func count(_ number: Int) -> String {
        "\(number) \(number == 1 ? "key" : "keys")"
    }

    private static func list(_ names: [EntryName]) -> String {
        let told = names.prefix(mostNames).map { name in
            "\(name.key.name.quotedForMessage) of \(name.domain.map { "\($0)" } ?? "an unknown domain")"
        }
        let rest = names.count - told.count
        return told.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
