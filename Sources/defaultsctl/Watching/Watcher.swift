import DBus
import DefaultsClient
import DefaultsProtocol
import DefaultsTerms
import KeyedArchive
import ValuePaths

/// Follows what is watched, and finds what has become of it.
///
/// Invariants:
/// 1. Each change of a key is shown once, by the generation that its value has when it is read; what
///    was changed again before that is shown as one change.
/// 2. What the daemon remembers is asked for only from where all of it was taken last, never from a
///    signal: a signal does not tell that there was none before.
/// 3. Whatever is missed, a signal or the daemon, is caught up with before anything later is shown.
struct Watcher {
    private let defaults: RemoteDefaults
    private let scope: WatchScope
    private let path: ValuePath?
    private let show: (WatchedChange) throws -> Void

    private var domains: [String: WatchedDomain] = [:]
    private var writers: WriterNames
    /// Whether something was missed that is not caught up with.
    private var isBehind = false

    /// What is known of a domain.
    private struct WatchedDomain {
        var held = HeldValues()
        /// Up to where everything was taken (invariant 2).
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
        writers = WriterNames(of: defaults)
    }

    /// Watches until the bus has gone.
    mutating func run() async throws {
        // First, so that whatever is changed from when the bus knows the rule has an old value.
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
            return try await catchUpWithHosts(told: change)
        }
        let domain = change.domainWithLayer
        guard scope.includes(domain: domain) else { return }
        if change.changed.isEmpty, change.removed.isEmpty {
            return try await catchUp(with: domain, told: change)
        }
        for key in change.changed where scope.includes(key: key) {
            try await takeValue(of: key, in: domain, told: change)
        }
        for key in change.removed where scope.includes(key: key) {
            let held = domains[domain]?.held[key]
            // It was read when it had been removed and set again.
            if let generation = held?.generation, generation >= change.generation { continue }
            let writer = await writers.writer(of: change.generation, from: change.origin)
            try takeRemoval(of: key, in: domain, at: change.generation, by: writer)
        }
    }

    /// Reads what a key has now, and shows it where that is not known yet.
    ///
    /// - Parameter change: The signal that names the key; nil where that was missed.
    private mutating func takeValue(
        of key: String, in domain: String, told change: DefaultsChange?
    ) async throws {
        let held = domains[domain]?.held[key]
        if let change, let generation = held?.generation, generation >= change.generation { return }
        let (archive, generation): (KeyedArchive, UInt64)
        do {
            (archive, generation) = try await defaults.archive(forKey: key, in: domain)
        } catch let error as ClientError where error.code == .notFound {
            // Its removal is told next; then it is known that there was something.
            if held == nil { domains[domain, default: .init()].held.holdUnknown(for: key) }
            return
        } catch let error where error.ofContract is DefaultsError || error is ArchiveError {
            // It cannot be read, which is no reason to be silent about it, or about all others.
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
        try tell(
            WatchedChange(
                of: key, in: domain, from: held?.content ?? .absent, to: .value(archive),
                at: generation, by: await writers.writer(of: generation, from: origin)))
    }

    private mutating func takeRemoval(
        of key: String, in domain: String, at generation: UInt64, by writer: ChangeWriter?
    ) throws {
        guard let held = domains[domain]?.held[key] else { return }
        domains[domain]?.held.forget(key)
        try tell(
            WatchedChange(
                of: key, in: domain, from: held.content, to: .absent, at: generation, by: writer))
    }

    private func tell(_ change: WatchedChange) throws {
        guard let path else { return try show(change) }
        if let part = change.narrowed(to: path) { try show(part) }
    }
}

// MARK: Hosts

extension Watcher {
    /// Shows what has changed in the layers of hosts of a domain: the signal is the same for those of
    /// all hosts.
    private mutating func catchUpWithHosts(told change: DefaultsChange) async throws {
        let own = LayerName.host.spelling(of: change.domain)
        let others = change.domain + LayerName.suffix(ofHost: "")
        let known = domains.keys + (try await watchedDomains())
        let layers = Set(known.filter { $0.hasPrefix(others) } + [own])
        for layer in layers.sorted() where scope.includes(domain: layer) {
            try await catchUp(with: layer, told: change)
        }
    }
}

// MARK: Stock

extension Watcher {
    private func watchedDomains() async throws -> [String] {
        // A layer of one domain may be empty, or no domain at all, which is to be told.
        if let domain = scope.domain, domain.contains("@") { return [domain] }
        // Where the daemon does not tell of files, what one of them changes first looks new.
        let files = (try? await defaults.layerFiles()) ?? []
        let fromFiles = Set(files.compactMap(\.domainWithLayer)).sorted()
        let listed = (try await defaults.domains() + fromFiles).filter(scope.includes(domain:))
        guard let domain = scope.domain, !listed.contains(domain) else { return listed }
        return listed + [domain]
    }

    /// Notes what a domain has, and shows nothing.
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
            // Gone again, or damaged: what is known of it is that it was there.
            guard let (archive, generation) = try? await defaults.archive(forKey: key, in: domain)
            else { continue }
            // One that was changed meanwhile is to be shown.
            guard generation <= difference.generation else { continue }
            room -= archive.bytes.count
            stock.held.hold(archive.bytes, of: generation, for: key)
        }
        domains[domain] = stock
    }

    /// Of a domain that is too large for one reply, how many values are read one by one.
    private static let mostReadOneByOne = 1000
    /// How many bytes these may have.
    private static let mostReadAtFirst = 64 << 20

    /// Catches up with everything; where the daemon goes away meanwhile, once more with the next one.
    private mutating func catchUpAfterLoss() async throws {
        do {
            try await catchUp()
        } catch let error where error.isLossOfDaemon {
            // Nobody serves now. When somebody does, that is an event.
        }
    }

    private mutating func catchUp() async throws {
        isBehind = true
        let known = Set(domains.keys)
        for domain in known.union(try await watchedDomains()).sorted() {
            try await catchUp(with: domain, told: nil)
        }
        isBehind = false
    }

    /// Shows what has changed in a domain since everything was taken last.
    ///
    /// - Parameter change: The signal that tells of a change without names, or of hosts, if it is for
    ///   that.
    private mutating func catchUp(with domain: String, told change: DefaultsChange?) async throws {
        let since = domains[domain]?.generation ?? 0
        let difference = try await defaults.difference(of: domain, since: since)
        let changed = Set(difference.changed.keys).union(difference.large)
        let held = domains[domain]?.held ?? HeldValues()
        for key in changed.filter(scope.includes(key:)).sorted() {
            if held[key]?.holds(difference.changed[key]) == true { continue }
            try await takeValue(of: key, in: domain, told: nil)
        }
        let gone = difference.isComplete ? Set(difference.removed) : held.keys.subtracting(changed)
        let teller = change.flatMap { $0.generation == difference.generation ? $0 : nil }
        for key in gone.filter(scope.includes(key:)).sorted() {
            // It was set again since, or the one who removed it is known by the signal alone.
            if let generation = domains[domain]?.held[key]?.generation,
                generation > difference.generation
            {
                continue
            }
            var writer: ChangeWriter?
            if let teller {
                writer = await writers.writer(of: teller.generation, from: teller.origin)
            }
            try takeRemoval(of: key, in: domain, at: difference.generation, by: writer)
        }
        domains[domain, default: .init()].generation = difference.generation
    }
}

extension Error {
    /// Whether the daemon was not there to answer, though the next one may be.
    fileprivate var isLossOfDaemon: Bool {
        guard let error = ofContract as? DBusError else { return false }
        return error.name != .disconnected && error.name != .invalidArguments
    }
}

/// What is watched.
struct WatchScope {
    /// The domain as it was given; nil for all.
    let domain: String?
    /// The key; nil for all of the domain.
    let key: String?

    /// The domain without the suffix of a layer, as the signal has it; nil for all.
    var name: String? { domain.map { String($0.prefix { $0 != "@" }) } }

    /// A name alone stands for all layers of the domain.
    ///
    /// - Parameter spelling: A domain, with the suffix of its layer.
    func includes(domain spelling: String) -> Bool {
        guard let domain else { return true }
        return domain == spelling
            || !domain.contains("@") && spelling.prefix { $0 != "@" } == domain
    }

    func includes(key: String) -> Bool {
        self.key == nil || self.key == key
    }
}
