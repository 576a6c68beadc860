import DBus
import DefaultsModel
import DefaultsProtocol
import DefaultsStorage
import DefaultsTerms
import Logging

/// What programs have stored and set lately, beside what they may.
///
/// The bounds are values of the domain `org.defaultsd.Quotas`. Each key is a domain, an application
/// ID, or `*`. Each value is a dictionary of bounds. What is no bound is ignored.
///
/// Invariants:
/// 1. The usage of an application is read once. From then on each change is added.
/// 2. The memory does not grow with the number of programs that have called.
final class QuotaKeeper {
    /// How many applications are remembered.
    private static let most = 256
    /// How long the space on the disk is taken for known.
    private static let validity = Duration.seconds(1)

    private struct State {
        /// The bounds; nil before they are read.
        var bounds: Quotas?
        var applications: [String: Usage] = [:]
        /// What all programs have stored.
        var all: Usage?
        var rates = WriteRates()
        var disk: (space: DiskSpace?, time: SuspendingClock.Instant)?
    }

    private var state = State()

    /// Does something as a trial: what it notes is forgotten.
    func trying(_ body: () throws -> Void) rethrows {
        let before = state
        defer { state = before }
        try body()
    }

    /// What the applications in sandboxes have stored that have changed something.
    var usageOfApplications: [String: Usage] { state.applications }

    /// The bounds, which are read at first and after each change of them.
    func bounds(_ read: () -> Quotas) -> Quotas {
        if let bounds = state.bounds { return bounds }
        let bounds = read()
        state.bounds = bounds
        return bounds
    }

    /// What an application has stored.
    func usage(
        ofApplication application: String, _ read: () throws -> Usage
    ) rethrows -> Usage {
        if let usage = state.applications[application] { return usage }
        if state.applications.count >= Self.most { state.applications = [:] }
        let usage = try read()
        state.applications[application] = usage
        return usage
    }

    /// What all programs have stored.
    func usage(_ read: () throws -> Usage) rethrows -> Usage {
        if let all = state.all { return all }
        let usage = try read()
        state.all = usage
        return usage
    }

    /// The space on the disk, as it was a moment ago; nil if the system does not say.
    func disk(at now: SuspendingClock.Instant, _ read: () -> DiskSpace?) -> DiskSpace? {
        if let disk = state.disk, disk.time.duration(to: now) < Self.validity { return disk.space }
        let space = read()
        state.disk = (space, now)
        return space
    }

    /// Notes a change that was made.
    func note(_ growth: Growth, of domain: Domain) {
        if domain.name == QuotaTerms.domain { state.bounds = nil }
        guard domain.layer.isWritable else { return }
        state.all = state.all?.after(growth)
        guard !state.applications.isEmpty else { return }
        for name in domain.namesAbove {
            state.applications[name] = state.applications[name]?.after(growth)
        }
    }

    /// Notes that a flush has used space on the disk.
    func noteFlush() { state.disk = nil }

    /// Forgets everything that was read, because the database was repaired.
    func readAgain() { (state.bounds, state.all, state.applications) = (nil, nil, [:]) }

    // MARK: Rates

    /// Notes what a program has set.
    func noteRate(
        _ bytes: Int, by program: WriteRates.Program, limit: Int, at now: SuspendingClock.Instant
    ) {
        state.rates.note(bytes, by: program, limit: limit, at: now)
    }

    /// How long a program has to wait before it may set so much; nil if it may do so now.
    func wait(
        _ program: WriteRates.Program, for bytes: Int, limit: Int, at now: SuspendingClock.Instant
    ) -> Duration? {
        state.rates.wait(program, for: bytes, limit: limit, at: now)
    }

    /// What programs have set lately, as their rates count it.
    func rates(
        at now: SuspendingClock.Instant, limit: (WriteRates.Program) -> Int
    ) -> [(program: WriteRates.Program, bytes: Int)] {
        state.rates.levels(at: now, limit: limit)
    }
}

extension Domain {
    /// Its name, and the names of all domains above it.
    fileprivate var namesAbove: [String] {
        var names = [name]
        while let dot = names[names.count - 1].lastIndex(of: ".") {
            names.append(String(names[names.count - 1][..<dot]))
        }
        return names
    }
}

// MARK: Decisions

extension DefaultsObject {
    /// Refuses a change that would exceed a bound.
    ///
    /// - Throws: `LimitsExceeded`, and `StorageError` if the database cannot be read.
    func checkQuotas(
        for parts: [(proposal: ChangeProposal, growth: Growth)], by caller: Caller,
        isUndo: Bool = false
    ) throws {
        guard parts.count > 1 else {
            for (proposal, growth) in parts {
                try checkQuotas(for: proposal, growth, by: caller, isUndo: isUndo)
            }
            return
        }
        // Each part is checked as if those before it had been made.
        try quotas.trying {
            for (proposal, growth) in parts {
                try checkQuotas(for: proposal, growth, by: caller, isUndo: isUndo)
                quotas.note(growth, of: proposal.domain)
                noteRate(of: proposal, by: caller)
            }
        }
    }

    private func checkQuotas(
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
            throw ContractError(quota, in: layers.places)
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
            throw ContractError(quota, in: layers.places)
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
                try database.usage(of: pattern)
            }
            if let quota = bounds.exceeded(by: growth, ofApplication: application, with: usage) {
                throw quota
            }
        }
        guard growth.before.keys == 0 else { return }
        let usage = try quotas.usage { try database.usage(of: nil) }
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
        let used = try database.domainsInUse(pattern, atMost: limit)
        guard used >= limit, try database.domainsInUse(.init(only: proposal.domain), atMost: 1) == 0
        else { return }
        throw QuotaUse(bound: .domains, name: application, limit: limit, used: used + 1)
    }

    /// All domains of an application in a sandbox count as one.
    private func checkDisk(
        _ growth: Growth, of domain: Domain, by application: String?, _ bounds: Quotas
    ) throws {
        let others = application.flatMap { quotas.usageOfApplications[$0]?.bytes } ?? 0
        guard max(growth.after.bytes, others) > QuotaTerms.smallDomain,
            let disk = quotas.disk(at: now, { database.diskSpace }),
            let quota = bounds.exceeded(
                by: growth, of: domain, on: disk, pending: database.unwrittenBytes)
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
            for key in policyKeys(in: QuotaTerms.domain).union(everybody) {
                guard let value = policy(key, in: QuotaTerms.domain) else { continue }
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
}

// MARK: What is near

extension DefaultsObject {
    /// Calculates who uses how much of what it may, from the totals of all domains.
    var quotaReport: @Sendable ([Domain: KeyTotals]) -> [QuotaUse] {
        let (bounds, hosts, now) = (bounds, hosts, now)
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
        in value: Value
    ) -> (bounds: [QuotaTerms.Bound: Int], hasOthers: Bool) {
        guard case .dictionary(_, _, let entries) = value.withoutVariant else { return ([:], true) }
        var found: [QuotaTerms.Bound: Int] = [:]
        for entry in entries {
            guard case .string(let name) = entry.key, let bound = Self(rawValue: name),
                let number = entry.value.withoutVariant.wholeNumber, number >= 0
            else { continue }
            found[bound] = number
        }
        return (found, found.count < entries.count)
    }
}

extension Value {
    /// The number, if it is a whole one that fits.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        case .int64(let number): Int(exactly: number)
        case .uint64(let number): Int(clamping: number)
        case .double(let number): Int(exactly: number)
        default: nil
        }
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
