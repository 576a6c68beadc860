import DBus
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import ValuePaths

/// Follows what is watched, and finds out how it has changed.
///
/// Invariants:
/// 1. Each change of a key is shown once, identified by the generation that its value has when it
///    is read. If the key changes again before that, both are shown as one change.
/// 2. `GetChanges` is only called with the generation up to which everything is known, never with
///    that of a signal: there may have been other changes before the signal.
/// 3. Whatever was missed, signals or a daemon, is caught up with before anything later is shown.
struct Watcher {
    private let defaults: RemoteDefaults
    private let scope: WatchScope
    private let path: ValuePath?
    private let show: (WatchedChange) throws -> Void

    private var domains: [String: WatchedDomain] = [:]
    private var authors: WatchedAuthors
    /// Whether something was missed that must be caught up with.
    private var isBehind = false

    /// What is known about a domain.
    private struct WatchedDomain {
        var held = HeldValues()
        /// The generation up to which everything is known (invariant 2).
        var generation: UInt64 = 0
    }

    init(
        _ defaults: RemoteDefaults, scope: WatchScope, path: ValuePath?,
        show: @escaping (WatchedChange) throws -> Void
    ) {
        self.defaults = defaults
        self.scope = scope
        self.path = path
        self.show = show
        authors = WatchedAuthors(of: defaults)
    }

    /// Watches until the bus has gone.
    mutating func run() async throws {
        // This comes first, so that every change that is reported has an old value.
        for domain in try await watchedDomains() { try await takeStock(of: domain) }
        let events = try await WatchEvents.follow(defaults, in: scope.name)
        isBehind = true
        try await catchUpAfterLoss()
        for await event in events.stream {
            if events.takeMissed() { isBehind = true }
            do {
                try await take(event)
            } catch  where (error.ofContract as? DBusError)?.name == .disconnected {
                break
            } catch let error where error.isLossOfDaemon {
                isBehind = true
                try await catchUpAfterLoss()
            }
        }
        throw ToolError.busWentAway
    }

    private mutating func take(_ event: WatchEvent) async throws {
        if isBehind { try await catchUp() }
        switch event {
        case .notice(.change(let change)): try await take(change)
        case .notice(.missed), .newDaemon: try await catchUp()
        }
    }
}

// MARK: Signals

extension Watcher {
    private mutating func take(_ change: DefaultsChange) async throws {
        if change.layer == LayerName.host.rawValue {
            return try await catchUpWithHosts(because: change)
        }
        let domain = change.domainWithLayer
        guard scope.includes(domain: domain) else { return }
        if change.changed.isEmpty, change.removed.isEmpty {
            return try await catchUp(with: domain, because: change)
        }
        for key in change.changed where scope.includes(key: key) {
            try await takeValue(of: key, in: domain, because: change)
        }
        for key in change.removed where scope.includes(key: key) {
            let held = domains[domain]?.held[key]
            // It was read after it had been removed and set again.
            if let generation = held?.generation, generation >= change.generation { continue }
            let author = await authors.author(
                of: change.generation, of: key, in: domain, from: change.origin)
            try takeRemoval(of: key, in: domain, at: change.generation, by: author)
        }
    }

    /// Reads the current value of a key, and shows it if it is new.
    ///
    /// - Parameter change: The signal that names the key; nil if it was missed.
    private mutating func takeValue(
        of key: String, in domain: String, because change: DefaultsChange?
    ) async throws {
        let held = domains[domain]?.held[key]
        if let change, let generation = held?.generation, generation >= change.generation { return }
        let (archive, generation): (KeyedArchive, UInt64)
        do {
            (archive, generation) = try await defaults.archive(forKey: key, in: domain)
        } catch let error as DefaultsError where error.code == .notFound {
            // Its removal is reported next, and is then known to be a removal.
            if held == nil { domains[domain, default: .init()].held.holdUnknown(for: key) }
            return
        } catch let error where error.ofContract is ContractError || error is ArchiveError {
            // A value that cannot be read must not prevent reporting it or the others.
            domains[domain, default: .init()].held.holdUnknown(for: key)
            return try tell(
                WatchedChange(
                    of: key, in: domain, from: held?.content ?? .absent, to: .unknown,
                    at: change?.generation ?? 0, by: nil))
        }
        guard held?.generation != generation else { return }
        domains[domain, default: .init()].held.hold(archive.bytes, of: generation, for: key)
        if held?.holds(archive.bytes) == true { return }
        let origin = change.flatMap { $0.generation == generation ? $0.origin : nil }
        let author = await authors.author(of: generation, of: key, in: domain, from: origin)
        try tell(
            WatchedChange(
                of: key, in: domain, from: held?.content ?? .absent, to: .value(archive),
                at: generation, by: author))
    }

    private mutating func takeRemoval(
        of key: String, in domain: String, at generation: UInt64, by author: WatchedAuthor?
    ) throws {
        guard let held = domains[domain]?.held[key] else { return }
        domains[domain]?.held.forget(key)
        try tell(
            WatchedChange(
                of: key, in: domain, from: held.content, to: .absent, at: generation, by: author))
    }

    private func tell(_ change: WatchedChange) throws {
        guard let path else { return try show(change) }
        if let part = change.narrowed(to: path) { try show(part) }
    }
}

// MARK: Hosts

extension Watcher {
    /// Shows what has changed in the host layers of a domain.
    ///
    /// The signal is the same for all hosts.
    private mutating func catchUpWithHosts(because change: DefaultsChange) async throws {
        let own = LayerName.host.spelling(of: change.domain)
        let others = change.domain + LayerName.suffix(ofHost: "")
        let known = domains.keys + (try await watchedDomains())
        let layers = Set(known.filter { $0.hasPrefix(others) } + [own])
        for layer in layers.sorted() where scope.includes(domain: layer) {
            try await catchUp(with: layer, because: change)
        }
    }
}

// MARK: Stock

extension Watcher {
    private func watchedDomains() async throws -> [String] {
        // A layer of a domain may be empty, or the domain may be invalid, which must be reported.
        if let domain = scope.domain, domain.contains("@") { return [domain] }
        // If the daemon does not list files, the first change by a file looks like a new value.
        let files = (try? await defaults.layerFiles()) ?? []
        let fromFiles = Set(files.compactMap(\.domainWithLayer)).sorted()
        let listed = (try await defaults.domains() + fromFiles).filter(scope.includes(domain:))
        guard let domain = scope.domain, !listed.contains(domain) else { return listed }
        return listed + [domain]
    }

    /// Notes the current contents of a domain, and shows nothing.
    private mutating func takeStock(of domain: String) async throws {
        let difference = try await defaults.wholeDifference(of: domain)
        var stock = WatchedDomain(generation: difference.generation)
        for (key, archive) in difference.changed where scope.includes(key: key) {
            stock.held.hold(archive, of: nil, for: key)
        }
        var room = Self.mostReadAtFirst
        for (number, key) in difference.large.enumerated() where scope.includes(key: key) {
            stock.held.holdUnknown(for: key)
            guard room > 0, scope.key != nil || number < Self.mostReadOneByOne else { continue }
            // It was removed or is damaged. It is only known that there was a value.
            guard let (archive, generation) = try? await defaults.archive(forKey: key, in: domain)
            else { continue }
            // If it was changed meanwhile, the change must be shown.
            guard generation <= difference.generation else { continue }
            room -= archive.bytes.count
            stock.held.hold(archive.bytes, of: generation, for: key)
        }
        domains[domain] = stock
    }

    /// How many values of a domain that is too large for one reply are read one by one.
    private static let mostReadOneByOne = 1000
    /// The most bytes that these values may have.
    private static let mostReadAtFirst = 64 << 20

    /// Catches up with everything.
    ///
    /// If the daemon goes away meanwhile, this repeats once with the next daemon.
    private mutating func catchUpAfterLoss() async throws {
        do {
            try await catchUp()
        } catch let error where error.isLossOfDaemon {
            // No daemon is running. When one starts, there is an event.
        }
    }

    private mutating func catchUp() async throws {
        isBehind = true
        let known = Set(domains.keys)
        for domain in known.union(try await watchedDomains()).sorted() {
            try await catchUp(with: domain, because: nil)
        }
        isBehind = false
    }

    /// Shows what has changed in a domain since everything was last known.
    ///
    /// - Parameter change: The signal without names, or about hosts, that is the reason for this,
    ///   if any.
    private mutating func catchUp(with domain: String, because change: DefaultsChange?) async throws
    {
        let since = domains[domain]?.generation ?? 0
        let difference = try await defaults.difference(of: domain, since: since)
        let archives = Dictionary(difference.changed.map { ($0.key, $0.archive) }) { $1 }
        let changed = Set(archives.keys).union(difference.large)
        let held = domains[domain]?.held ?? HeldValues()
        for key in changed.filter(scope.includes(key:)).sorted() {
            if held[key]?.holds(archives[key]) == true { continue }
            try await takeValue(of: key, in: domain, because: nil)
        }
        let gone = difference.isComplete ? Set(difference.removed) : held.keys.subtracting(changed)
        let teller = change.flatMap { $0.generation == difference.generation ? $0 : nil }
        for key in gone.filter(scope.includes(key:)).sorted() {
            // It was set again since, or only the signal knows who has removed it.
            if let generation = domains[domain]?.held[key]?.generation,
                generation > difference.generation
            {
                continue
            }
            var author: WatchedAuthor?
            if let teller {
                author = await authors.author(
                    of: teller.generation, of: key, in: domain, from: teller.origin)
            }
            try takeRemoval(of: key, in: domain, at: difference.generation, by: author)
        }
        domains[domain, default: .init()].generation = difference.generation
    }
}

extension Error {
    /// Whether the daemon has gone, though the next one may answer.
    fileprivate var isLossOfDaemon: Bool {
        guard let error = ofContract as? DBusError else { return false }
        return error.name != .disconnected && error.name != .invalidArguments
    }
}

/// The scope of the watch.
struct WatchScope {
    /// The domain as it was given; nil for all domains.
    let domain: String?
    /// The key; nil for all keys of the domain.
    let key: String?

    /// The domain without a suffix, as in the signal; nil for all domains.
    var name: String? { domain.map { String($0.prefix { $0 != "@" }) } }

    /// A name without a suffix means all layers of the domain.
    ///
    /// - Parameter spelling: A domain with the suffix of its layer.
    func includes(domain spelling: String) -> Bool {
        guard let domain else { return true }
        return domain == spelling
            || !domain.contains("@") && spelling.prefix { $0 != "@" } == domain
    }

    func includes(key: String) -> Bool {
        self.key == nil || self.key == key
    }
}
