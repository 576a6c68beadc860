package import DefaultsTerms

// Invariants
//
// 1. Only growth is refused. Who is above a bound, because the bound was lowered, can still remove,
//    and set values that are not larger.
// 2. A name without a bound of its own has that of `*`, and if there is none, the built-in bound.

/// How much may be stored, by names of domains and applications.
///
/// ```swift
/// var quotas = Quotas()
/// quotas.set([.domainBytes: 1 << 20], for: "org.example.Game")
/// quotas.limit(.domainBytes, of: "org.example.Game")    // 1 048 576
/// quotas.limit(.domainBytes, of: "org.example.Editor")  // 268 435 456
/// ```
package struct Quotas: Sendable, Equatable {
    private var bounds: [String: [QuotaTerms.Bound: Int]] = [:]

    /// The built-in bounds, which no program with good intentions meets.
    package init() {}

    /// Replaces the bounds of a name.
    ///
    /// - Parameter name: A domain, an application ID, or `*`.
    package mutating func set(_ bounds: [QuotaTerms.Bound: Int], for name: String) {
        self.bounds[name] = bounds
    }

    /// How much a name may have.
    package func limit(_ bound: QuotaTerms.Bound, of name: String) -> Int {
        bounds[name]?[bound] ?? bounds[QuotaTerms.everybody]?[bound] ?? Self.builtIn(bound)
    }

    private static func builtIn(_ bound: QuotaTerms.Bound) -> Int {
        switch bound {
        case .domainKeys: 1 << 20
        case .domainBytes: 256 << 20
        case .keys: 1 << 16
        case .bytes: 64 << 20
        case .domains: 64
        case .allDomains: 1 << 16
        case .bytesPerMinute: 512 << 20
        case .freeDisk: 256 << 20
        }
    }
}

// MARK: Decisions

extension Quotas {
    /// The bound that a domain would exceed; nil if there is none.
    package func exceeded(by growth: Growth, of domain: Domain) -> QuotaUse? {
        let (before, after) = (growth.before, growth.after)
        return exceeded(.domainKeys, of: domain.name, from: before.keys, to: after.keys)
            ?? exceeded(.domainBytes, of: domain.name, from: before.bytes, to: after.bytes)
    }

    /// The bound that an application in a sandbox would exceed; nil if there is none.
    ///
    /// - Parameter usage: What its domains have before the change.
    package func exceeded(
        by growth: Growth, ofApplication application: String, with usage: Usage
    ) -> QuotaUse? {
        let after = usage.after(growth)
        return exceeded(.domains, of: application, from: usage.domains, to: after.domains)
            ?? exceeded(.keys, of: application, from: usage.keys, to: after.keys)
            ?? exceeded(.bytes, of: application, from: usage.bytes, to: after.bytes)
    }

    /// The bound that all programs together would exceed; nil if there is none.
    ///
    /// - Parameter usage: What all domains have before the change.
    package func exceeded(by growth: Growth, with usage: Usage) -> QuotaUse? {
        exceeded(
            .allDomains, of: QuotaTerms.everybody, from: usage.domains,
            to: usage.after(growth).domains)
    }

    /// The bound of the disk's free space that a domain which is not small would exceed; nil if there is
    /// space.
    ///
    /// What is pending is written twice: to the log, and to the database. A bound of 0 leaves no space
    /// free.
    ///
    /// - Parameters:
    ///   - disk: The disk of the database.
    ///   - pending: The size of the changes that are not on disk, in bytes.
    package func exceeded(
        by growth: Growth, of domain: Domain, on disk: DiskSpace, pending: Int
    ) -> QuotaUse? {
        guard growth.after.bytes > growth.before.bytes else { return nil }
        // A small disk could not have more than that free for long.
        let limit = min(limit(.freeDisk, of: QuotaTerms.everybody), disk.size / 8)
        let added = growth.after.bytes - growth.before.bytes
        let left = disk.free - 2 * (pending + added)
        guard limit > 0, left < limit else { return nil }
        return QuotaUse(bound: .freeDisk, name: domain.name, limit: limit, used: left)
    }

    private func exceeded(
        _ bound: QuotaTerms.Bound, of name: String, from before: Int, to after: Int
    ) -> QuotaUse? {
        guard after > before else { return nil }
        let use = use(bound, of: name, after)
        return after > use.limit ? use : nil
    }
}

// MARK: What is near

extension Quotas {
    /// What a domain uses of its bounds.
    ///
    /// - Parameter spelling: The domain with the suffix of its layer.
    package func uses(
        of domain: Domain, _ totals: KeyTotals, as spelling: String
    ) -> [QuotaUse] {
        [(QuotaTerms.Bound.domainKeys, totals.keys), (.domainBytes, totals.bytes)].map {
            QuotaUse(bound: $0, name: spelling, limit: limit($0, of: domain.name), used: $1)
        }
    }

    /// What an application in a sandbox uses of its bounds.
    package func uses(ofApplication application: String, _ usage: Usage) -> [QuotaUse] {
        [
            (QuotaTerms.Bound.domains, usage.domains), (.keys, usage.keys), (.bytes, usage.bytes),
        ].map { use($0, of: application, $1) }
    }

    /// What all programs together use of their bound.
    package func use(ofAll domains: Int) -> QuotaUse {
        use(.allDomains, of: QuotaTerms.everybody, domains)
    }

    private func use(_ bound: QuotaTerms.Bound, of name: String, _ used: Int) -> QuotaUse {
        QuotaUse(bound: bound, name: name, limit: limit(bound, of: name), used: used)
    }
}

/// How much of a bound is used; as an error, what a change would use that is too much.
package struct QuotaUse: Error, Sendable, Equatable {
    /// What is bounded.
    package let bound: QuotaTerms.Bound
    /// Who uses it: a domain, an application, a program, or `*` for all.
    package let name: String
    /// The bound.
    package let limit: Int
    /// What is used; for ``QuotaTerms/Bound/freeDisk`` what would be left.
    package let used: Int

    /// Describes it.
    package init(bound: QuotaTerms.Bound, name: String, limit: Int, used: Int) {
        self.bound = bound
        self.name = name
        self.limit = limit
        self.used = used
    }

    /// The part of the bound that is used, in per cent.
    package var percentage: Double { limit > 0 ? Double(used) / Double(limit) * 100 : 100 }
}

/// The space on a disk.
package struct DiskSpace: Sendable, Equatable {
    /// What programs of this user may still use, in bytes.
    package let free: Int
    /// The size of the file system, in bytes.
    package let size: Int

    /// Pairs two sizes.
    package init(free: Int, size: Int) {
        self.free = free
        self.size = size
    }
}
