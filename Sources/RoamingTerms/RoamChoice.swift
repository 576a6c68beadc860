import DefaultsTerms
package import KeyedArchive

/// What roams: the keys of the domains that vendors, administrators and the user have named.
///
/// A domain has the rule of its own key in ``RoamTerms/domain``, otherwise that of the longest pattern
/// `a.b.*` that covers it, otherwise that of `*`. A domain without a rule stays.
package struct RoamChoice: Sendable, Equatable {
    /// Which keys of a domain roam.
    package struct Rule: Sendable, Equatable {
        /// The keys that may; nil for all.
        package let only: [String]?
        /// Those of them that stay.
        package let except: [String]

        /// All keys roam.
        package static let all = Rule(only: nil, except: [])
        /// No key roams.
        package static let nothing = Rule(only: [], except: [])

        package init(only: [String]?, except: [String]) {
            self.only = only
            self.except = except
        }

        /// Whether a key roams.
        package func covers(_ key: String) -> Bool {
            !Self.matches(key, except) && (only.map { Self.matches(key, $0) } ?? true)
        }

        private static func matches(_ key: String, _ patterns: [String]) -> Bool {
            patterns.contains { pattern in
                pattern.last == RoamTerms.wildcard
                    ? key.utf8.starts(with: pattern.utf8.dropLast()) : key == pattern
            }
        }
    }

    /// The rules, by what they are for.
    package let rules: [String: Rule]
    /// Whether values are encrypted before they leave the machine, so that the wrapped key roams, too.
    package let isEncrypted: Bool
    /// The keys of ``RoamTerms/domain`` whose values say nothing, with the reason.
    package let faults: [(key: String, reason: String)]

    /// Reads the choice.
    ///
    /// - Parameters:
    ///   - entries: The entries of ``RoamTerms/domain``, each of the strongest layer that has it.
    ///   - isEncrypted: Whether values are encrypted before they leave the machine.
    package init(_ entries: [(key: String, archive: KeyedArchive)], isEncrypted: Bool = false) {
        self.isEncrypted = isEncrypted
        var rules: [String: Rule] = [:]
        var faults: [(String, String)] = []
        for (key, archive) in entries where !RoamTerms.settings.contains(key) {
            if !Self.isName(key) {
                faults.append((key, "it is no domain, no domain with .* after it, and not *"))
            } else if let rule = Self.rule(in: archive) {
                rules[key] = rule
            } else {
                faults.append(
                    (key, "its value is no boolean, and no dictionary of the lists only and except")
                )
            }
        }
        self.rules = rules
        self.faults = faults
    }

    /// Whether nothing was chosen.
    package var isEmpty: Bool { rules.isEmpty }

    /// Whether a key roams.
    package func covers(_ key: String, of domain: String) -> Bool {
        if domain == RoamTerms.domain { return !RoamTerms.settings.contains(key) }
        return rule(for: domain)?.covers(key) ?? false
    }

    /// The rule for a domain; nil if nothing of it roams.
    package func rule(for domain: String) -> Rule? {
        if RoamTerms.always.contains(domain) { return .all }
        if domain == RoamTerms.keyDomain, isEncrypted { return .all }
        if RoamTerms.never.contains(domain) { return nil }
        let found = rules[domain] ?? patternRule(for: domain) ?? rules["*"]
        return found == .nothing ? nil : found
    }

    private func patternRule(for domain: String) -> Rule? {
        var parts = domain.split(separator: ".")
        while parts.count > 1 {
            parts.removeLast()
            if let rule = rules[parts.joined(separator: ".") + GrantTerms.andBelow] { return rule }
        }
        return nil
    }

    /// Whether a rule can be for this: a domain, a domain with `.*` after it, or `*`.
    package static func isName(_ key: String) -> Bool {
        if key == GrantTerms.everything { return true }
        let name =
            key.hasSuffix(GrantTerms.andBelow)
            ? String(key.dropLast(GrantTerms.andBelow.count)) : key
        return DomainRule.allows(name)
    }

    /// The rule that a value is; nil if it is none.
    package static func rule(in archive: KeyedArchive) -> Rule? {
        let decoder = KeyedArchiveDecoder()
        if let roams = try? decoder.decode(Bool.self, from: archive) {
            return roams ? .all : .nothing
        }
        guard let lists = try? decoder.decode([String: [String]].self, from: archive),
            lists.keys.allSatisfy([RoamTerms.only, RoamTerms.except].contains)
        else { return nil }
        return Rule(only: lists[RoamTerms.only], except: lists[RoamTerms.except] ?? [])
    }

    package static func == (left: RoamChoice, right: RoamChoice) -> Bool {
        left.rules == right.rules && left.isEncrypted == right.isEncrypted
    }
}

extension RoamChoice.Rule {
    /// The value of the rule.
    package func archive() throws -> KeyedArchive {
        let encoder = KeyedArchiveEncoder()
        if self == .all { return try encoder.encode(true) }
        if self == .nothing { return try encoder.encode(false) }
        var lists = [RoamTerms.except: except]
        lists[RoamTerms.only] = only
        return try encoder.encode(lists.filter { $0.key == RoamTerms.only || !$0.value.isEmpty })
    }
}
