import DBus
import DefaultsTerms

/// A service in the memory of one process, for the tests of applications.
///
/// It keeps the contract's rules: transactions are whole, generations rise, what is locked is refused.
///
/// It lives, as stores do, until the process ends.
final class MemoryService: Service, @unchecked Sendable {
    let lock = Guard()
    let states = Broadcast<DefaultsState>()
    var state: DefaultsState { .inMemory }
    var loop: EventLoop? { nil }

    // Under the lock.
    private var table = StoreTable(holdsLarge: true)
    private var generation: UInt64 = 1
    /// The generations of keys, by domain with suffix and key.
    private var generations: [String: [KeyName: UInt64]] = [:]
    /// The generations of the last changes, by domain with suffix.
    private var lastChanges: [String: UInt64] = [:]
    private var locks: [String: LockedNames] = [:]

    func store(of domain: String, arguments: [String]) -> Store {
        lock.withLock {
            let (store, new) = table.store(of: domain, service: self, arguments: arguments)
            for copy in new {
                _ = copy.take(
                    DomainCopy.Reading(
                        layers: [:], locks: locks[copy.name] ?? LockedNames(),
                        generation: generation),
                    counter: nil)
            }
            return store
        }
    }

    /// What an administrator or a vendor would have put into files.
    func provide(_ entries: [KeyName: Entry], in domain: String, layer: LayerName, locks: [String])
    {
        lock.withLock {
            generation += 1
            self.locks[domain] = LockedNames(
                locks + (layer == .managed ? entries.keys.map(\.string) : []))
            guard let copy = table.copies[domain] else { return }
            var reading = DomainCopy.Reading(
                layers: [layer: entries], locks: self.locks[domain], generation: generation)
            if layer != .managed { reading.locks = nil }
            _ = copy.take(reading, counter: nil)
        }
    }

    func makeCurrent(_ copies: [DomainCopy]) {}

    func send(from copy: DomainCopy) {
        lock.withLock {
            while let batch = copy.takeNextToSend() {
                let outcome = Result { try commit(batch, of: copy) }
                switch outcome {
                case .success(let generation): copy.acknowledge(generation)
                case .failure(let error):
                    copy.refuse()
                    guard !batch.isAwaited else { break }
                    let failure = DefaultsFailure(
                        action: .write, keys: Array(batch.changes.keys),
                        domain: batch.layer.spelling(of: copy.name), error: error)
                    copy.tell(failure, lock)
                }
                for waiter in batch.takeWaiting() { lock.whenFree { waiter(outcome) } }
            }
        }
    }

    private func commit(_ batch: Batch, of copy: DomainCopy) throws -> UInt64 {
        let spelling = batch.layer.spelling(of: copy.name)
        var known = generations[spelling] ?? [:]
        for (name, entry) in batch.changes { try check(name, entry) }
        for (name, expected) in batch.expected {
            guard holds(expected, for: name, known, in: spelling) else {
                throw ClientError.conflict(name, in: spelling)
            }
        }
        generation += 1
        for (name, entry) in batch.changes { known[name] = entry == nil ? nil : generation }
        generations[spelling] = known
        lastChanges[spelling] = generation
        return generation
    }

    /// Refuses what the service would.
    private func check(_ name: KeyName, _ entry: Entry?) throws {
        guard KeyRule.allows(name.string) else { throw ClientError.badName(name) }
        guard (entry?.size ?? 0) <= ContractLimits.maximumValueSize else {
            throw ClientError.tooLarge(name, limit: ContractLimits.maximumValueSize)
        }
    }

    /// Whether a key is at a generation; or the whole domain has not changed after it.
    private func holds(
        _ expected: UInt64, for name: KeyName, _ known: [KeyName: UInt64], in spelling: String
    ) -> Bool {
        guard name.string.isEmpty else { return known[name] ?? 0 == expected }
        return expected == 0 ? known.isEmpty : lastChanges[spelling] ?? 0 <= expected
    }

    func fetch(_ name: KeyName, in spelling: String) throws -> [UInt8]? { nil }

    func read(
        _ name: KeyName, in spelling: String
    ) async throws -> (bytes: [UInt8]?, generation: UInt64) {
        lock.reading {
            for copy in table.copies.values {
                for layer in LayerName.allCases where layer.spelling(of: copy.name) == spelling {
                    guard case .archive(let bytes) = copy.entry(name, in: layer)?.content else {
                        continue
                    }
                    return (bytes, generations[spelling]?[name] ?? 1)
                }
            }
            return (nil, 0)
        }
    }

    func isLocked(_ name: KeyName, in domain: String) throws -> Bool {
        lock.reading { locks[domain]?.contains(name) == true }
    }

    func synchronize(within bound: Duration) async throws -> UInt64 {
        lock.reading { generation }
    }
}
