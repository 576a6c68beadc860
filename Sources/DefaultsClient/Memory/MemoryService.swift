import DBus
import DefaultsProtocol
import DefaultsTerms

/// A service in the memory of one process, for the tests of applications.
///
/// It follows the rules of the contract: a transaction is made as a whole, generations increase, and
/// changes of locked keys are refused. It exists until the process ends.
final class MemoryService: Service {
    /// Why a key is refused, in tests of what an application does then; nil if it is not.
    typealias Refusal = @Sendable (_ key: String) -> DefaultsError?

    fileprivate struct State {
        var table = StoreTable(holdsLarge: true)
        var generation: UInt64 = 1
        /// The generations of keys, by domain with suffix and key.
        var generations: [String: [KeyName: UInt64]] = [:]
        /// The generations of the last changes, by domain with suffix.
        var lastChanges: [String: UInt64] = [:]
        var locks: [String: LockedNames] = [:]
    }

    let lock = ServiceLock()
    let states = Broadcast<DefaultsState>()
    private let refusal: Refusal
    var loop: EventLoop? { nil }
    private let stored = Guarded(State())

    init(failing refusal: @escaping Refusal = { _ in nil }) {
        self.refusal = refusal
    }

    func state(_ access: borrowing ReadAccess) -> DefaultsState { .inMemory }
    func absence(_ access: borrowing ReadAccess) -> String? { nil }

    func store(of domain: String, arguments: [String]) -> Store {
        lock.change { access in
            let (store, new) = access[stored].table.store(
                of: domain, service: self, arguments: arguments, access)
            for copy in new {
                let reading = LayerReading(
                    layers: [:], locks: access[stored].locks[copy.name] ?? LockedNames(),
                    generation: access[stored].generation)
                _ = copy.take(reading, counter: nil, access)
            }
            return store
        }
    }

    /// Sets the values that an administrator or a vendor would put into files.
    func provide(_ entries: [KeyName: Entry], in domain: String, layer: LayerName, locks: [String])
    {
        lock.change { access in
            access[stored].generation += 1
            let locks = LockedNames(
                locks + (layer == .managed ? entries.keys.map(\.string) : []))
            access[stored].locks[domain] = locks
            guard let copy = access[stored].table.copies[domain] else { return }
            let reading = LayerReading(
                layers: [layer: entries], locks: layer == .managed ? locks : nil,
                generation: access[stored].generation)
            _ = copy.take(reading, counter: nil, access)
        }
    }

    func makeCurrent(_ copies: [DomainCopy]) {}
    func start() {}
    func prefetch(_ copies: [DomainCopy]) {}

    func send(from copy: DomainCopy) {
        lock.change { access in access[copy.state].outbox.endRequest() }
        while let batch = lock.change({ $0[copy.state].outbox.takeNextToSend() }) {
            // The test's own code is called without the lock.
            let refusal = batch.changes.keys.sorted().lazy.compactMap { self.refusal($0.string) }
                .first
            lock.change { access in conclude(batch, of: copy, refusal, access) }
        }
    }

    private func conclude(
        _ batch: Batch, of copy: DomainCopy, _ refusal: DefaultsError?,
        _ access: borrowing WriteAccess
    ) {
        do throws(DefaultsError) {
            if let refusal { throw refusal }
            try check(batch)
            let generation = try access[stored].commit(batch, of: copy.name)
            // No other process changes anything.
            copy.acknowledge(generation, isNewest: true, access)
        } catch {
            if batch.isMerged {
                access[copy.state].outbox.splitFirst()
            } else {
                copy.refuse(error, access)
            }
        }
    }

    func fetch(_ name: KeyName, in spelling: String) throws(DefaultsError) -> [UInt8]? { nil }

    func read(
        _ name: KeyName, in spelling: String
    ) async throws -> (bytes: [UInt8]?, generation: UInt64) {
        lock.read { access in
            for copy in access[stored].table.copies.values {
                for layer in LayerName.allCases where layer.spelling(of: copy.name) == spelling {
                    // A change that waits may be refused, and has no generation yet.
                    guard
                        case .archive(let bytes) = access[copy.state]
                            .acknowledgedEntry(name, in: layer)?.content
                    else { continue }
                    return (bytes, access[stored].generations[spelling]?[name] ?? 1)
                }
            }
            return (nil, 0)
        }
    }

    func isLocked(_ name: KeyName, in domain: String) throws(DefaultsError) -> Bool {
        lock.read { $0[stored].locks[domain]?.contains(name) == true }
    }

    func synchronize(within bound: Duration) async throws -> UInt64 {
        lock.read { $0[stored].generation }
    }

    func askHistory<C: Call>(
        _ method: C.Type, _ arguments: C.Arguments, isChange: Bool, within bound: Duration
    ) async throws -> C.Reply {
        throw DefaultsError(.refused, "Values in the memory of a process have no history.")
    }

    /// Refuses what the service would refuse.
    private func check(_ batch: Batch) throws(DefaultsError) {
        for (name, entry) in batch.changes {
            guard KeyRule.allows(name.string) else { throw .badName(name) }
            guard (entry?.size ?? 0) <= ContractLimits.maximumValueSize else {
                throw .tooLarge(name, limit: ContractLimits.maximumValueSize)
            }
        }
    }
}

extension MemoryService.State {
    fileprivate mutating func commit(
        _ batch: Batch, of domain: String
    ) throws(DefaultsError) -> UInt64 {
        let spelling = batch.layer.spelling(of: domain)
        var known = generations[spelling] ?? [:]
        for (name, expected) in batch.expected {
            guard holds(expected, for: name, known, in: spelling) else {
                throw .conflict(name, in: spelling)
            }
        }
        generation += 1
        for (name, entry) in batch.changes { known[name] = entry == nil ? nil : generation }
        generations[spelling] = known
        lastChanges[spelling] = generation
        return generation
    }

    /// Whether a key is still at a generation; for an empty name, whether the whole domain is.
    private func holds(
        _ expected: UInt64, for name: KeyName, _ known: [KeyName: UInt64], in spelling: String
    ) -> Bool {
        guard name.string.isEmpty else { return known[name] ?? 0 == expected }
        return expected == 0 ? known.isEmpty : lastChanges[spelling] ?? 0 <= expected
    }
}
