/// What a service should have, as simply as it can be said.
///
/// `Tests/Model` compares the programs with a model in the same way, over a real bus and with real kills.
struct ServiceModel {
    /// A rule that a wrong model leaves out.
    ///
    /// The comparison must find each.
    enum Fault: CaseIterable {
        /// A change is made though something else was expected.
        case expectationIsIgnored
        /// The same value gets a new generation.
        case sameValueCounts
        /// A repeated transaction is made again.
        case tokenIsForgotten
        /// The end of a process without order loses what was not on disk.
        case killLosesPending
        /// Renaming a key replaces the other one.
        case renameReplaces
    }

    struct Entry: Equatable {
        let value: Int64
        let generation: UInt64
    }

    private let fault: Fault?
    private(set) var domains: [String: [String: Entry]] = [:]
    /// What is certainly on disk.
    private var onDisk: [String: [String: Entry]] = [:]
    private var tokens: [String: UInt64] = [:]

    init(_ fault: Fault? = nil) {
        self.fault = fault
    }

    /// What a change does: it is made, changes nothing, or is refused.
    enum Effect: Equatable {
        case made
        case nothing
        case repeated(UInt64)
        case refused
    }

    subscript(domain: String, key: String) -> Entry? { domains[domain]?[key] }

    /// The changes that a transaction makes.
    func effect(
        of domain: String, set: [String: Int64], removed: [String], expected: [String: UInt64],
        token: String?
    ) -> Effect {
        if fault != .tokenIsForgotten, let token, let generation = tokens[token] {
            return .repeated(generation)
        }
        let isMet = expected.allSatisfy { self[domain, $0]?.generation ?? 0 == $1 }
        if !isMet, fault != .expectationIsIgnored { return .refused }
        let changes = set.contains { self[domain, $0]?.value != $1 || fault == .sameValueCounts }
        let removes = removed.contains { self[domain, $0] != nil }
        return changes || removes ? .made : .nothing
    }

    /// Whether a key can get the name of another one.
    func effect(ofRenaming old: String, to new: String, in domain: String) -> Effect {
        guard self[domain, old] != nil else { return .refused }
        return self[domain, new] == nil || fault == .renameReplaces ? .made : .refused
    }

    /// Notes a change that was made.
    mutating func make(
        _ domain: String, set: [String: Int64], removed: [String], at generation: UInt64
    ) {
        for (key, value) in set
        where self[domain, key]?.value != value || fault == .sameValueCounts {
            domains[domain, default: [:]][key] = Entry(value: value, generation: generation)
        }
        for key in removed { domains[domain]?[key] = nil }
    }

    /// Notes that a transaction has its reply.
    mutating func remember(_ token: String, at generation: UInt64) { tokens[token] = generation }

    /// Notes that all of it is on disk.
    mutating func noteOnDisk() { onDisk = domains }

    /// Notes that the process has ended without order.
    mutating func noteKill() {
        if fault == .killLosesPending { domains = onDisk }
    }
}
