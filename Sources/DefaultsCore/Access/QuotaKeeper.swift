package import DefaultsModel
import DefaultsTerms

/// What programs have stored and set lately, beside what they may.
///
/// The bounds are values of the domain `org.defaultsd.Quotas`. Each key is a domain, an application
/// ID, or `*`. Each value is a dictionary of bounds. Anything else is ignored.
///
/// Invariants:
/// 1. The usage of an application is read once. From then on each change is added.
/// 2. The memory does not grow with the number of programs that have called.
package final class QuotaKeeper {
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
    package func usage(_ read: () throws -> Usage) rethrows -> Usage {
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
