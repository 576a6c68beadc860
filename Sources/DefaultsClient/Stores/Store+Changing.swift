import DefaultsTerms
import KeyedArchive

/// Changes of this process.
extension Store {
    /// How many bytes of a domain's changes may wait to be sent.
    private static let largestBacklog = 64 << 20
    /// How long to wait for the answer to a change, which is sent in any case.
    private static let patience = Duration.seconds(30)

    @usableFromInline
    func set<Value>(_ value: Value, for key: DefaultsKey<Value>, from origin: DefaultsOrigin?) {
        reporting([key.id], in: .domain) { () throws(DefaultsError) in
            try change(key.id, to: Entry(value, of: key), in: .domain, from: origin)
        }
    }

    /// Reports the errors of a call that does not throw.
    func reporting(
        _ keys: [KeyName], in layer: DefaultsLayer, _ body: () throws(DefaultsError) -> Void
    ) {
        guard !Fork.isChild else { return Fork.warn() }
        do throws(DefaultsError) {
            try body()
        } catch {
            let spelling = place(of: layer).map { $0.layer.spelling(of: $0.copy.name) } ?? name
            reportRefusal(
                DefaultsFailure(action: .write, keys: keys, domain: spelling, error: error))
        }
    }

    /// Reports a change that never became one, which is an error of the next `flush`, too.
    func reportRefusal(_ failure: DefaultsFailure) {
        failures.keepRefusal(failure.error)
        failures.tell(failure)
    }

    /// Changes one key, and has it sent.
    func change(
        _ key: KeyName, to entry: Entry?, in layer: DefaultsLayer, from origin: DefaultsOrigin?
    ) throws(DefaultsError) {
        try Fork.check()
        let (copy, copyLayer) = try writablePlace(of: layer)
        let source = ChangeSource.thisProcess(origin)
        let mustCall = try lock.change { access throws(DefaultsError) in
            if access[copy.state].isNoChange(entry, forKey: key, in: copyLayer) { return false }
            let present = access[copy.state].entry(key, in: copyLayer)
            if let entry, present?.unread(replacedBy: entry) != nil {
                try enqueue([key: entry], in: copy, copyLayer, by: source, access)
            } else {
                try admit([key], Batch.size(of: entry, key), in: copy, copyLayer, access.read)
                copy.enqueue(entry, forKey: key, in: copyLayer, by: source, access)
            }
            return access[copy.state].outbox.requestSending()
        }
        if mustCall { service.send(from: copy) }
    }

    /// Changes several keys as one, and has it sent.
    func apply(
        _ entries: [KeyName: Entry?], expected: [KeyName: UInt64] = [:], in layer: DefaultsLayer,
        from origin: DefaultsOrigin?, whenDone: (@Sendable (Batch.Outcome) -> Void)? = nil
    ) throws(DefaultsError) {
        try Fork.check()
        let (copy, copyLayer) = try writablePlace(of: layer)
        // An expectation alone is for the service to check, too.
        guard !entries.isEmpty || !expected.isEmpty else {
            whenDone?(.success(lock.read { $0[copy.state].generation }))
            return
        }
        try lock.change { access throws(DefaultsError) in
            try enqueue(
                entries, expected: expected, in: copy, copyLayer, by: .thisProcess(origin), access,
                whenDone: whenDone)
        }
        service.send(from: copy)
    }

    /// Takes changes that are sent as one, and keeps the values that they replace and that the
    /// application could not read.
    private func enqueue(
        _ entries: [KeyName: Entry?], expected: [KeyName: UInt64] = [:], in copy: DomainCopy,
        _ layer: LayerName, by source: ChangeSource, _ access: borrowing WriteAccess,
        whenDone: (@Sendable (Batch.Outcome) -> Void)? = nil
    ) throws(DefaultsError) {
        let kept = try keptValues(replacedBy: entries, in: copy, layer, access.read)
        // Two values under one name are the same value.
        let all = entries.merging(kept.map { ($0.name, $0.entry) }) { own, _ in own }
        var batch = Batch(layer, all, expected: expected, isTransaction: true)
        try admit(all.keys.sorted(), batch.size, in: copy, layer, access.read)
        // The caller waits for this change and gets the error; nobody else does.
        if let whenDone {
            batch.isAwaited = true
            batch.whenDone(whenDone)
        }
        copy.enqueue(batch, by: source, access)
        for kept in kept {
            let failure = DefaultsFailure(
                action: .replace, keys: [kept.key], domain: layer.spelling(of: copy.name),
                error: DefaultsError.kept(kept.key, under: kept.name))
            access.whenFree { self.failures.tell(failure) }
        }
    }

    /// Refuses what is locked, and what would be too much in memory.
    private func admit(
        _ keys: [KeyName], _ size: Int, in copy: DomainCopy, _ layer: LayerName,
        _ access: borrowing ReadAccess
    ) throws(DefaultsError) {
        var locked: [KeyName] = []
        for key in keys where isLocked(key, in: copy, access) { locked.append(key) }
        guard locked.isEmpty else {
            throw .locked(locked, in: copy.name, spelled: layer.spelling(of: copy.name))
        }
        guard access[copy.state].outbox.size + size <= Self.largestBacklog else {
            throw .tooManyChanges(
                keys.first ?? KeyName(""), in: copy.name, limit: Self.largestBacklog)
        }
    }

    /// Whether a key is known to be locked, for the domain or for all domains.
    private func isLocked(
        _ key: KeyName, in copy: DomainCopy, _ access: borrowing ReadAccess
    ) -> Bool {
        if access[copy.state].isLocked(key) == true { return true }
        return global.map { access[$0.state].isLocked(key) == true } ?? false
    }

    /// The copy and its layer that a change of a layer goes to.
    private func writablePlace(
        of layer: DefaultsLayer
    ) throws(DefaultsError) -> (copy: DomainCopy, layer: LayerName) {
        guard let place = place(of: layer) else { throw .notWritable(layer) }
        return place
    }

    /// Throws if the service is unreachable, so that a caller does not wait in vain.
    ///
    /// Before its first answer, this waits for the answer.
    nonisolated(nonsending) private func checkReachable() async throws {
        try Fork.check()
        if case .connecting = lock.read({ service.state($0) }) { await load() }
        if case .unreachable(let reason) = lock.read({ service.state($0) }) {
            throw DefaultsError.notBegun(reason)
        }
    }

    nonisolated(nonsending) func transact(
        _ entries: [KeyName: Entry?], expected: [KeyName: UInt64] = [:], in layer: DefaultsLayer,
        from origin: DefaultsOrigin?
    ) async throws -> UInt64 {
        try await checkReachable()
        let outcome = OneShot<UInt64>()
        try apply(entries, expected: expected, in: layer, from: origin) { outcome.resume($0) }
        return try await outcome.value(within: Self.patience, on: service.loop)
    }

    nonisolated(nonsending) func update<Value>(
        _ key: DefaultsKey<Value>, in layer: DefaultsLayer, from origin: DefaultsOrigin?,
        _ body: (inout Value) throws -> Void
    ) async throws -> Value {
        let (copy, copyLayer) = try writablePlace(of: layer)
        let spelling = copyLayer.spelling(of: copy.name)
        try await checkReachable()
        try await updates.begin()
        defer { updates.end() }
        let attempts = 100
        for attempt in 0..<attempts {
            // A random pause, so that processes conflict less often.
            if attempt > 10 {
                try await Alarm.pause(
                    for: .milliseconds(.random(in: 1...5)), on: service.loop)
            }
            // Changes of this process that are in flight come first. Otherwise they would be conflicts.
            try await waitForAnswers(within: Self.patience)
            let (bytes, generation) = try await service.read(key.id, in: spelling)
            // The value in effect is read below, on the caller's thread.
            if bytes == nil { await load() }
            var value = try readValue(of: key, from: bytes, in: layer)
            try body(&value)
            let entry = try Entry(value, of: key)
            do {
                _ = try await transact(
                    [key.id: entry], expected: [key.id: generation], in: layer, from: origin)
                return try entry.map { try read($0, as: key) } ?? value
            } catch {
                guard DefaultsError.isConflict(error) else { throw error }
            }
        }
        throw DefaultsError.tooMuchContention(key.id, in: spelling, attempts: attempts)
    }

    /// The value that an update begins with.
    ///
    /// - Parameter bytes: The archive in the layer; nil if there is none. Then the update begins with
    ///   the value that is in effect.
    /// - Throws: ``DefaultsError`` with `undecodable`, because an update would lose a value that cannot
    ///   be read.
    private func readValue<Value>(
        of key: DefaultsKey<Value>, from bytes: [UInt8]?, in layer: DefaultsLayer
    ) throws(DefaultsError) -> Value {
        do throws(DefaultsError) {
            guard let bytes else { return try readValue(of: key) }
            let value = try read(Entry(.archive(bytes)), as: key)
            noteRead(key, in: layer)
            return value
        } catch {
            guard error.code != .unreachable else { throw error }
            // Notes the value that cannot be read, so that it is kept if the program sets the key.
            _ = try? readValue(of: key, in: layer)
            throw .unread(key.id, in: name, error)
        }
    }

    /// Waits until the changes of this process are answered.
    ///
    /// - Throws: Also the error of the first change that was refused since the last time.
    func flush(within bound: Duration) async throws {
        try await waitForAnswers(within: bound)
        if let refusal = failures.takeRefusal() { throw refusal }
    }

    /// Waits until the changes of this process are answered, whatever the answers are.
    ///
    /// - Throws: ``DefaultsError`` with `unreachable` after the time, and at once if no service can come.
    func waitForAnswers(within bound: Duration) async throws {
        try Fork.check()
        let outcomes = try lock.change { access throws(DefaultsError) in
            let waiting = copies.filter { !access[$0.state].outbox.isEmpty }
            if !waiting.isEmpty, let reason = service.absence(access.read) {
                throw .notSent(reason)
            }
            return waiting.map { copy in
                let outcome = OneShot<UInt64>()
                _ = access[copy.state].outbox.whenLastIsDone { outcome.resume(Self.answer($0)) }
                return outcome
            }
        }
        let start = ContinuousClock.now
        for outcome in outcomes {
            do {
                _ = try await outcome.value(within: bound, since: start, on: service.loop)
            } catch let error as DefaultsError {
                guard case .unreachable(let reason) = lock.read({ service.state($0) }) else {
                    throw error
                }
                throw DefaultsError.notSent(reason)
            }
        }
    }

    /// The outcome of a change for those who wait for its answer, which a refusal is, too.
    private static func answer(_ outcome: Batch.Outcome) -> Batch.Outcome {
        if case .failure(let error as DefaultsError) = outcome, error.code == .unreachable {
            return outcome
        }
        return .success((try? outcome.get()) ?? 0)
    }
}

extension Entry {
    /// The entry of a value; nil if setting the value removes the key.
    ///
    /// A value that its coding may not return as it was is decoded again when it is read, so the program
    /// that sets it reads what all others read.
    convenience init?<Value>(
        _ value: Value, of key: DefaultsKey<Value>
    ) throws(DefaultsError) {
        let exact = key.coding.exactBytes(of: value)
        let bytes: [UInt8]?
        do {
            bytes = try exact ?? key.coding.encode(value)?.bytes
        } catch {
            throw .unencodable(key.id, error)
        }
        guard let bytes else { return nil }
        self.init(
            .archive(bytes), writer: key.holder, decoded: exact.map { _ in Decoded(value) })
    }
}
