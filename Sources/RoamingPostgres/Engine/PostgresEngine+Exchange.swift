package import DefaultsRoaming
internal import Postgres

/// Pulling and pushing.
extension PostgresEngine {
    /// The most bytes of archives of a page.
    private static let largestPage: Int64 = 8 << 20

    package func pull(after revision: UInt64, limit count: Int) async throws -> Page {
        guard let session else { throw EngineError.notMet }
        let statement = statements.versions(
            after: revision, upTo: session.readable, count: count, bytes: Self.largestPage)
        let versions = try await ask(statement) { rows in try (0..<rows.count).map(rows.version) }
        let losers =
            session.hasLosers
            ? try await losers(by: statements.losers(for: session.replica))
            : (first: [], hasMore: false)
        self.session?.hasLosers = losers.hasMore
        let bytes = versions.reduce(0) { $0 + Int64($1.archive?.count ?? 0) }
        // The statement ends a page by the same bounds.
        let isEnded = versions.count >= count || bytes >= Self.largestPage
        let last = versions.last?.mark.revision ?? session.readable
        return Page(
            versions: versions, losers: losers.first,
            revision: isEnded ? last : max(revision, session.readable),
            hasMore: isEnded && last < session.readable || losers.hasMore)
    }

    /// The losers that a statement gives, and whether there are more.
    private func losers(by statement: Statement) async throws -> (first: [Loser], hasMore: Bool) {
        try await ask(statement) { rows in
            let losers = try (0..<rows.count).map(rows.loser)
            let total = losers.isEmpty ? 0 : try rows.counted(0, 6)
            return (losers, Int64(losers.count) < total)
        }
    }

    /// Lets the next pull give the losers of a push that are too many for its reply.
    private func noteMoreLosers() {
        session?.hasLosers = true
        // The round under way may make no pull any more.
        news?()
    }

    package func push(_ batch: Batch) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        guard let session else { throw EngineError.notMet }
        guard batch.edits.count <= StoredOutcomes.most else {
            throw EngineError(
                .refused,
                "a batch has \(batch.edits.count) edits, and at most "
                    + "\(StoredOutcomes.most) are possible")
        }
        return try await translatingErrors {
            let connection = try await open()
            do {
                return try await push(batch, in: session, on: connection)
            } catch {
                try await rollBack(connection)
                let keys = Self.full(error, in: batch)
                guard !keys.isEmpty else { throw error }
                // A refused batch counts as answered, so the server must know it.
                try await run(
                    [statements.noteRefused(batch, of: session.replica)], on: connection)
                throw EngineError.full(keys)
            }
        }
    }

    private func rollBack(_ connection: PostgresConnection) async throws {
        if await connection.isInTransaction {
            try await connection.run(Statement("ROLLBACK"), limit: limit)
        }
    }

    /// The keys for which a failure means that there is no room.
    private static func full(_ error: any Error, in batch: Batch) -> [RoamingKey] {
        switch error {
        case let error as NoRoom: error.keys
        // The bounds of the server have changed meanwhile.
        case let error as PostgresError where error.state == Schema.State.full:
            batch.edits.filter { $0.archive != nil }.map(\.key)
        default: []
        }
    }

    private struct NoRoom: Error {
        let keys: [RoamingKey]
    }

    private func push(
        _ batch: Batch, in session: Session, on connection: PostgresConnection
    ) async throws -> (outcomes: [Outcome], losers: [Loser]) {
        let read = try await connection.run(
            statements.beginPush(batch, of: session.replica), limit: limit
        ).suffix(3)
        guard read.count == 3, let versions = read.last else {
            throw EngineError.damaged("it has sent no results")
        }
        let account = try LockedAccount(read[read.startIndex])
        let replica = read[read.startIndex + 1]
        if let outcomes = try Self.made(batch, replica) {
            try await rollBack(connection)
            let losers = try await losers(
                by: statements.losers(of: batch, from: session.replica))
            allowReading(upTo: try replica.revision(0, 2))
            if losers.hasMore { noteMoreLosers() }
            return (outcomes, losers.first)
        }
        let current = try (0..<versions.count).map(versions.version)
        let plan = PushPlan(
            batch, of: session.replica,
            current: Dictionary(current.map { ($0.key, $0) }) { first, _ in first },
            revision: account.revision, now: account.now, room: account.room)
        guard plan.full.isEmpty else { throw NoRoom(keys: plan.full) }
        try await connection.run(
            statements.endPush(batch, plan, of: session.replica, account), limit: limit)
        allowReading(upTo: account.revision)
        let count = LoserLimit.fits(plan.losers.map { $0.archive?.count ?? 0 })
        if count < plan.losers.count { noteMoreLosers() }
        return (plan.outcomes, Array(plan.losers.prefix(count)))
    }

    /// The outcomes of a batch that was made before; nil if it was not.
    private static func made(_ batch: Batch, _ row: Rows) throws -> [Outcome]? {
        guard row.count == 1, try !row.boolean(0, 4) else { throw EngineError.mustMeet }
        let number = try row.revision(0, 0)
        if number < batch.number { return nil }
        guard number == batch.number, row.bytes(0, 1) == batch.nonce else {
            throw EngineError.mustMeet
        }
        guard !row.isNull(0, 2), let stored = row.bytes(0, 3) else { return nil }
        guard let outcomes = StoredOutcomes.outcomes(stored, of: batch) else {
            throw EngineError.damaged("it knows another batch under the same number")
        }
        return outcomes
    }

    private func allowReading(upTo revision: UInt64) {
        if let readable = session?.readable { session?.readable = max(readable, revision) }
    }
}
