import ArgumentParser
import DefaultsClient
import DefaultsTerms
import KeyedArchive
import OwnedDocuments
import Wording

/// A plan of which it is known what administrators have locked, and what it has no effect on.
struct PlannedChange {
    /// What is done.
    private(set) var steps: [DocumentPlan.Step] = []
    /// The locked keys that are left as they are.
    private(set) var skipped: [LockedKey] = []
    /// Keys whose new value programs do not see, with the layer that is stronger.
    private(set) var shadowed: [KeyPlace: String] = [:]

    /// Whether anything is to be done.
    var isEmpty: Bool { steps.isEmpty }

    /// - Throws: `ToolError` with all locked keys, if they are not to be left.
    init(
        _ plan: DocumentPlan, of document: OwnedDocument, options: DocumentOptions,
        checking defaults: RemoteDefaults
    ) async throws {
        var locked: [LockedKey] = []
        let wished = Set(document.wishes.map(\.place))
        let grouped = Dictionary(grouping: plan.steps, by: \.place.domain)
        for (domain, steps) in grouped.sorted(by: { $0.key < $1.key }) {
            let changing = steps.filter(\.changesValue).map(\.place.key)
            let locks =
                changing.isEmpty ? [] : try await defaults.lockedKeys(of: changing, in: domain)
            let byPlace = Dictionary(uniqueKeysWithValues: steps.map { ($0.place, $0) })
            var left: Set<KeyPlace> = []
            for lock in locks {
                let place = KeyPlace(domain: domain, key: lock.key)
                left.insert(place)
                guard let step = byPlace[place] else { continue }
                // What programs see already is as the document wants it.
                let seen = try await defaults.effectiveValue(of: step.place)
                if let after = step.after, try seen?.shown().isSame(as: after.shown()) == true {
                    continue
                }
                locked.append(lock)
            }
            let made = steps.filter { !left.contains($0.place) }
            self.steps += made
            if !changing.isEmpty, !domain.contains("@") {
                let host = LayerName.host.spelling(of: domain)
                try await noteShadows(
                    of: made, under: grouped[host] ?? [], in: host, exceptBy: wished, defaults)
            }
        }
        guard locked.isEmpty || options.skipLocked else { throw ToolError.allLocked(locked) }
        skipped = locked
    }

    /// Notes whose values the layer of this machine hides, unless the document itself has put them there.
    private mutating func noteShadows(
        of steps: [DocumentPlan.Step], under hostSteps: [DocumentPlan.Step], in host: String,
        exceptBy wished: Set<KeyPlace>, _ defaults: RemoteDefaults
    ) async throws {
        var stronger = Set(
            try await defaults.keys(in: host).map { KeyPlace(domain: host, key: $0) }
        ).subtracting(wished)
        // As it is after the change.
        for step in hostSteps {
            if step.after == nil {
                stronger.remove(step.place)
            } else if !wished.contains(step.place) {
                stronger.insert(step.place)
            }
        }
        for step in steps where step.changesValue {
            if stronger.contains(KeyPlace(domain: host, key: step.place.key)) {
                shadowed[step.place] = LayerName.host.rawValue
            }
        }
    }
}

// MARK: For people

extension PlannedChange {
    private static let mostNamed = 5

    /// Says on standard error what was done that a person has to know.
    ///
    /// - Parameter isPlanned: Whether it is not done yet.
    func say(for owner: Owner, isPlanned: Bool) {
        for remark in remarks(for: owner, isPlanned: isPlanned) { Complaint.say(remark) }
        sayWhatSchemasDemand()
    }

    private func remarks(for owner: Owner, isPlanned: Bool) -> [String] {
        func names(_ steps: [DocumentPlan.Step]) -> String {
            let named = steps.prefix(Self.mostNamed).map { step in
                let key = step.place.key.onOneLine
                let parts = step.replacedParts.map { "\(key).\($0.onOneLine)" }
                let keys = parts.isEmpty ? [key] : parts
                return "\(keys.joined(separator: ", ")) of \(step.place.domain.onOneLine)"
            }
            let others = steps.count - named.count
            return named.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
        }
        var remarks: [String] = []
        func remark(_ sentence: String, _ steps: [DocumentPlan.Step]) {
            if !steps.isEmpty { remarks.append("\(sentence): \(names(steps)).") }
        }
        let would = isPlanned ? "would be" : "were"
        remark(
            "Other values \(would) replaced. They come back when \(owner.name) no longer wants these keys",
            steps.filter {
                $0.replacesOthers && [.set, .remove].contains($0.outcome)
                    || !$0.replacedParts.isEmpty
            })
        remark(
            "The exact types of values \(would) replaced, because the new ones do not fit them",
            steps.filter { $0.replacesType && $0.outcome == .set })
        remark(
            "\(owner.name) no longer wants these keys. They were changed meanwhile, and stay as they are",
            steps.filter { $0.outcome == .kept })
        remark(
            "\(owner.name) no longer wants these keys. They had their values before, and keep them",
            steps.filter { $0.outcome == .found && $0.after != nil })
        if !skipped.isEmpty {
            remarks.append(
                "\(counted(skipped.count, "key")) locked by the administrator, left unchanged: "
                    + skipped.prefix(Self.mostNamed).map {
                        "\($0.key.onOneLine) of \($0.domain.onOneLine)"
                    }.joined(separator: ", ")
                    + ".")
        }
        remark(
            "These have no effect on this machine, because the layer host has a value",
            steps.filter { shadowed[$0.place] != nil })
        return remarks
    }

    /// Says which values programs do not see, as `write` does.
    private func sayWhatSchemasDemand() {
        let set = steps.filter { $0.outcome == .set && $0.changesValue && $0.after != nil }
        for (domain, steps) in Dictionary(grouping: set, by: \.place.domain).sorted(by: {
            $0.key < $1.key
        }) {
            UnknownKeys.remark(on: steps.map(\.place.key), in: domain)
            let unseen = steps.lazy.compactMap { step in
                step.after.flatMap {
                    SchemaDemand(of: step.place.key, in: domain)?.remark(on: $0)
                }
            }
            for remark in unseen.prefix(Self.mostNamed) { Complaint.say(remark) }
        }
    }

    /// A line for each key.
    func text() -> String {
        var lines: [String] = []
        for step in steps {
            let place = "\(step.place.domain.onOneLine) \(step.place.key.onOneLine)"
            let words =
                switch step.outcome {
                case .set, .remove, .restore:
                    "\(Self.brief(step.before)) -> \(Self.brief(step.after))"
                case .own: Self.brief(step.after)
                case .kept: "stays, others have changed it"
                case .found:
                    step.after == nil ? "had no value before" : "stays, it was there before"
                }
            let shadow =
                shadowed[step.place].map { " (no effect: the layer \($0) has a value)" } ?? ""
            lines.append("\(step.outcome.rawValue) \(place): \(words)\(shadow)")
        }
        return lines.isEmpty ? "nothing to do" : lines.joined(separator: "\n")
    }

    private static let longestValue = 60
    /// The text of a value with more bytes than this is not made, because it would be cut.
    private static let mostBytesOfText = 64 << 10

    private static func brief(_ value: KeyedArchive?) -> String {
        guard let value else { return "no value" }
        guard value.bytes.count <= mostBytesOfText else {
            return "a value of \(value.bytes.count >> 10) KiB"
        }
        return (try? value.shown().jsonText(hasISODates: true))?.onOneLine.cut(to: longestValue)
            ?? "a value that cannot be shown"
    }

    /// The same for programs.
    func json(for owner: Owner) throws -> String {
        let steps = try steps.map { step in
            try ShownJSON.object([
                ("domain", step.place.domain.quoted), ("key", step.place.key.quoted),
                ("action", step.outcome.rawValue.quoted),
                ("before", step.before?.shown().jsonText() ?? "null"),
                ("after", step.after?.shown().jsonText() ?? "null"),
                ("formerOwner", step.formerOwner?.name.quoted ?? "null"),
                ("shadowedBy", shadowed[step.place]?.quoted ?? "null"),
            ])
        }
        let locked = try skipped.map {
            try ShownJSON.object([
                ("domain", $0.domain.quoted), ("key", $0.key.quoted), ("file", $0.file.quoted),
            ])
        }
        return try ShownJSON.object([
            ("owner", owner.name.quoted), ("changed", isEmpty ? "false" : "true"),
            ("steps", "[\(steps.joined(separator: ","))]"),
            ("locked", "[\(locked.joined(separator: ","))]"),
        ])
    }
}
