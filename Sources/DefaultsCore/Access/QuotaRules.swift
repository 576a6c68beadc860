import class DBus.EventLoop
import DefaultsFiles
package import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import Logging

/// What programs may store, and who is near the bounds.
package final class QuotaRules {
    private let quotas: QuotaKeeper
    private let store: Store
    private let policies: Policies
    private let rights: Rights
    private let places: LayerPlaces
    private let loop: EventLoop
    private let logger: Logger

    init(
        _ quotas: QuotaKeeper, in store: Store, by policies: Policies, _ rights: Rights,
        _ places: LayerPlaces, on loop: EventLoop, logger: Logger
    ) {
        self.quotas = quotas
        self.store = store
        self.policies = policies
        self.rights = rights
        self.places = places
        self.loop = loop
        self.logger = logger
    }

    private var now: SuspendingClock.Instant { loop.now }

    /// Refuses a change that would exceed a bound.
    ///
    /// - Throws: `LimitsExceeded`, and `StorageError` if the database cannot be read.
    func check(
        for parts: [(proposal: ChangeProposal, growth: Growth)], by caller: Caller,
        isUndo: Bool = false
    ) throws {
        guard parts.count > 1 else {
            for (proposal, growth) in parts {
                try check(for: proposal, growth, by: caller, isUndo: isUndo)
            }
            return
        }
        // Each part is checked as if those before it had been made.
        try quotas.trying {
            for (proposal, growth) in parts {
                try check(for: proposal, growth, by: caller, isUndo: isUndo)
                quotas.note(growth, of: proposal.domain)
                noteRate(of: proposal, by: caller)
            }
        }
    }

    private func check(
        for proposal: ChangeProposal, _ growth: Growth, by caller: Caller, isUndo: Bool
    ) throws {
        if isUndo, !caller.isConfined { return }
        let application = caller.application
        // A user must be able to correct a wrong bound.
        let isPolicy = AccessScope.policies.contains(proposal.domain.name)
        let bounds = isPolicy ? Quotas() : bounds
        try checkRate(of: proposal, by: caller.program, bounds)
        do {
            try checkTokens(of: proposal, growth, by: application, bounds)
            guard growth.isMore else { return }
            try checkUsage(growth, of: proposal.domain, by: application, bounds)
            try checkDisk(growth, of: proposal.domain, by: application, bounds)
        } catch let quota as QuotaUse {
            rights.noteRefusal(because: quota)
            throw ContractError(quota, in: places)
        }
    }

    /// Notes what a call has set.
    func noteRate(of proposal: ChangeProposal, by caller: Caller) {
        let size = proposal.size
        guard size > 0 else { return }
        let program = caller.program
        let limit = bounds.limit(.bytesPerMinute, of: program.name)
        quotas.noteRate(size, by: program, limit: limit, at: now)
    }

    private func checkRate(
        of proposal: ChangeProposal, by program: WriteRates.Program, _ bounds: Quotas
    ) throws {
        let (size, limit) = (proposal.size, bounds.limit(.bytesPerMinute, of: program.name))
        guard size > 0 else { return }
        let quota = QuotaUse(
            bound: .bytesPerMinute, name: program.name, limit: limit, used: size)
        if limit == 0 {
            rights.noteRefusal(because: quota)
            throw ContractError(quota, in: places)
        }
        guard let wait = quotas.wait(program, for: size, limit: limit, at: now) else {
            return
        }
        rights.noteRefusal(because: quota)
        throw ContractError(quota, waiting: wait)
    }

    private func checkUsage(
        _ growth: Growth, of domain: Domain, by application: String?, _ bounds: Quotas
    ) throws {
        if let quota = bounds.exceeded(by: growth, of: domain) { throw quota }
        if let application, let pattern = Self.ownDomains(of: application),
            pattern.covers(domain.name)
        {
            let usage = try quotas.usage(ofApplication: application) {
                try store.database.usage(of: pattern)
            }
            if let quota = bounds.exceeded(by: growth, ofApplication: application, with: usage) {
                throw quota
            }
        }
        guard growth.before.keys == 0 else { return }
        let usage = try quotas.usage { try store.database.usage(of: nil) }
        if let quota = bounds.exceeded(by: growth, with: usage) { throw quota }
    }

    /// A token makes a domain known, even if it has no keys or none any more.
    ///
    /// Otherwise an application in a sandbox could make the service forget the tokens of all others.
    private func checkTokens(
        of proposal: ChangeProposal, _ growth: Growth, by application: String?, _ bounds: Quotas
    ) throws {
        guard proposal.token != nil, growth.before.keys <= 0, let application,
            let pattern = Self.ownDomains(of: application), pattern.covers(proposal.domain.name)
        else { return }
        let limit = bounds.limit(.domains, of: application)
        let used = try store.database.domainsInUse(pattern, atMost: limit)
        guard used >= limit,
            try store.database.domainsInUse(.init(only: proposal.domain), atMost: 1) == 0
        else { return }
        throw QuotaUse(bound: .domains, name: application, limit: limit, used: used + 1)
    }

    /// All domains of an application in a sandbox count as one.
    private func checkDisk(
        _ growth: Growth, of domain: Domain, by application: String?, _ bounds: Quotas
    ) throws {
        let others = application.flatMap { quotas.usageOfApplications[$0]?.bytes } ?? 0
        guard max(growth.after.bytes, others) > QuotaTerms.smallDomain,
            let disk = quotas.disk(at: now, { store.database.diskSpace }),
            let quota = bounds.exceeded(
                by: growth, of: domain, on: disk, pending: store.database.unwrittenBytes)
        else { return }
        throw quota
    }

    private static func ownDomains(of application: String) -> DomainPattern? {
        (try? Domain(ofApplication: application)).map(DomainPattern.init(domainAndBelow:))
    }

    /// The bounds that apply now.
    private var bounds: Quotas {
        quotas.bounds {
            var bounds = Quotas()
            var ignored: [String] = []
            let everybody = (try? Key(QuotaTerms.everybody)).map { [$0] } ?? []
            for key in policies.keys(in: QuotaTerms.domain).union(everybody) {
                guard let value = policies.value(of: key, in: QuotaTerms.domain) else { continue }
                let (found, others) = QuotaTerms.Bound.values(in: value)
                bounds.set(found, for: key.name)
                if others { ignored.append(key.name) }
            }
            if !ignored.isEmpty {
                logger.warning(
                    """
                    The bounds of \(ignored.sorted().prefix(8).joined(separator: ", ")) in \
                    \(QuotaTerms.domain) are not all valid. Invalid ones are ignored. A bound needs a \
                    known name and a number of at least 0.
                    """)
            }
            return bounds
        }
    }

    // MARK: What is near

    /// Calculates who uses how much of what it may, from the totals of all domains.
    package var report: @Sendable ([Domain: KeyTotals]) -> [QuotaUse] {
        let (bounds, hosts, now) = (bounds, store.hosts, now)
        let applications = quotas.usageOfApplications
        let rates = quotas.rates(at: now) { bounds.limit(.bytesPerMinute, of: $0.name) }
        return { totals in
            var uses = totals.flatMap { domain, totals in
                bounds.uses(of: domain, totals, as: domain.spelling(on: hosts))
            }
            for (name, usage) in applications {
                uses += bounds.uses(ofApplication: name, usage)
            }
            uses += rates.map { program, bytes in
                QuotaUse(
                    bound: .bytesPerMinute, name: program.shown,
                    limit: bounds.limit(.bytesPerMinute, of: program.name), used: bytes)
            }
            uses.append(bounds.use(ofAll: totals.count))
            return uses
        }
    }
}

extension QuotaTerms.Bound {
    /// The bounds in a dictionary.
    ///
    /// - Returns: Also whether there is anything else: what is not the name of a bound, or not a
    ///   number of at least 0.
    fileprivate static func values(
        in value: PolicyValue
    ) -> (bounds: [QuotaTerms.Bound: Int], hasOthers: Bool) {
        guard case .dictionary(let entries) = value else { return ([:], true) }
        var found: [QuotaTerms.Bound: Int] = [:]
        for (name, value) in entries {
            guard let bound = Self(rawValue: name), let number = value.wholeNumber, number >= 0
            else { continue }
            found[bound] = number
        }
        return (found, found.count < entries.count)
    }
}

extension WriteRates.Program {
    /// The name whose bound applies.
    var name: String {
        if case .application(let name) = self { name } else { QuotaTerms.everybody }
    }

    /// The program in words.
    fileprivate var shown: String {
        switch self {
        case .application(let name): name
        case .unknownApplication: "programs in a sandbox without a known application"
        case .process(let number): "process \(number)"
        case .connection(let name): "connection \(name)"
        }
    }
}
