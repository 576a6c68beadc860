extension Store {
    func migrate(_ steps: [DefaultsMigration]) async throws -> Int {
        let newest = steps.last?.version ?? 0
        var attemptsLeft = Self.attempts
        while true {
            let generation = try await generationToMigrate()
            let version = try readValue(of: .defaultsVersion, in: .domain) ?? 0
            guard version <= newest else {
                throw ClientError.newerVersion(version, of: name, known: newest)
            }
            guard let step = steps.first(where: { $0.version > version }) else { return version }
            do {
                try await run(step, at: generation)
                attemptsLeft = Self.attempts
            } catch {
                guard ClientError.isConflict(error) else { throw error }
                attemptsLeft -= 1
                guard attemptsLeft > 0 else {
                    throw ClientError.tooMuchContention(
                        DefaultsKeys.defaultsVersion.id, in: name, attempts: Self.attempts)
                }
            }
        }
    }

    private static let attempts = 100

    /// Takes note of a generation of the domain before anything is read: whatever changes after it is
    /// a conflict, also where a step reads some of it already.
    private func generationToMigrate() async throws -> UInt64 {
        try Fork.check()
        service.makeCurrent(copies)
        try checkReachable()
        // Our own changes that are on their way come first, or they would be a conflict.
        try await flush(within: .seconds(30))
        service.makeCurrent(copies)
        try checkReachable()
        return lock.reading { own.generation }
    }

    /// Throws where the domain was never read: what it has is not known.
    ///
    /// Where what was read is older than it should be, that is a conflict later on.
    private func checkReachable() throws {
        let (state, isKnown) = lock.reading { (service.state, own.isLoaded || own.isCurrent) }
        if case .unreachable(let reason) = state { throw ClientError.unreachable(reason) }
        guard isKnown else { throw ClientError.unreachable("It has not answered yet.") }
    }

    private func run(_ step: DefaultsMigration, at generation: UInt64) async throws {
        var changes = DefaultsMigration.Changes(of: self)
        try step.run(&changes)
        if let failure = changes.failure { throw failure }
        changes[.defaultsVersion] = step.version
        _ = try await commit(changes.entries, expected: [KeyName(""): generation], in: .domain)
    }
}
