import DefaultsRoaming
import SQLite

extension DirectoryState {
    /// Makes a batch, or gives the outcomes that it had.
    ///
    /// - Parameter now: The time, in microseconds since 1970.
    func push(_ batch: Batch, now: Int64) throws -> [Outcome] {
        if let outcomes = try outcomes(of: batch) { return outcomes }
        try checkRoom(for: batch)
        return try change { () throws(SQLiteError) in
            own.revision += 1
            var outcomes: [Outcome] = []
            for edit in batch.edits { outcomes.append(try make(edit, now: now)) }
            own.batch = Int64(batch.number)
            own.nonce = batch.nonce
            try remember(outcomes)
            return outcomes
        }
    }

    /// The outcomes of the last batch, if it is this one.
    private func outcomes(of batch: Batch) throws -> [Outcome]? {
        guard batch.number <= Dot.largestCounter, batch.nonce.count == 16,
            own.batch <= Int64(batch.number),
            own.batch != Int64(batch.number) || own.nonce == batch.nonce
        else {
            throw EngineError(
                .refused,
                "Another copy of this replica has pushed a batch meanwhile; it joins again as a new replica."
            )
        }
        guard own.batch == Int64(batch.number) else { return nil }
        return try connection.rows(
            """
            SELECT domain, key, stands, revision, context, time FROM directory_outcome
            ORDER BY position
            """
        ) { row in
            let context = row.text(at: 4) ?? ""
            return Outcome(
                key: row.key(at: 0), result: row.integer(at: 2) != 0 ? .stands : .lost,
                mark: VersionMark(
                    revision: UInt64(row.integer(at: 3)),
                    context: FileText.bytes(Substring(context), count: context.utf8.count / 2)
                        ?? []),
                time: row.time(at: 5))
        }
    }

    private func remember(_ outcomes: [Outcome]) throws(SQLiteError) {
        try connection.run("DELETE FROM directory_outcome")
        for outcome in outcomes {
            try connection.run(
                """
                INSERT INTO directory_outcome (domain, key, stands, revision, context, time)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                outcome.key.values + [
                    .integer(outcome.result == .stands ? 1 : 0),
                    .integer(Int64(outcome.mark.revision)),
                    .text(FileText.hexadecimal(outcome.mark.context)), outcome.time.value,
                ])
        }
    }

    /// Refuses what others would refuse to read.
    private func checkRoom(for batch: Batch) throws {
        let large = batch.edits.filter { ($0.archive?.count ?? 0) > FileLimits.archive }.map(\.key)
        guard large.isEmpty else {
            throw EngineError(
                .full(large),
                "A directory takes values of at most \(FileLimits.archive >> 20) MiB.")
        }
        let edits = batch.edits.filter { $0.archive != nil }
        if try haveRoom(edits) { return }
        let growing = try growing(edits)
        guard try haveRoom(growing) else {
            throw EngineError(
                .full(growing.map(\.key)),
                "The file of this machine would get too large. Remove values, or let fewer domains "
                    + "roam.")
        }
    }

    /// Whether there is room for edits.
    ///
    /// There always is for removals: the file could never shrink otherwise.
    private func haveRoom(_ edits: [Edit]) throws(SQLiteError) -> Bool {
        if edits.isEmpty { return true }
        let used = try used(where: "voucher = ?", [own.replica.value])
        let more = edits.reduce(0) { $0 + Self.size(of: $1) }
        return used.bytes + more < Self.largestFile
            && used.count + edits.count < FileLimits.keys / 2
    }

    /// The edits that do not replace a version of this replica that is at least as large.
    private func growing(_ edits: [Edit]) throws(SQLiteError) -> [Edit] {
        var growing: [Edit] = []
        for edit in edits {
            let own = try used(
                where: "domain = ? AND key = ? AND voucher = ?",
                edit.key.values + [own.replica.value])
            if own.count == 0 || Self.size(of: edit) > own.bytes { growing.append(edit) }
        }
        return growing
    }

    /// How much of this replica's file some versions take.
    private func used(
        where condition: String, _ values: [SQLValue]
    ) throws(SQLiteError) -> (bytes: Int, count: Int) {
        // Base64 needs 4 bytes for 3, and a line with its names needs some 200.
        try connection.rows(
            """
            SELECT sum(coalesce(length(archive), 0) / 3 * 4 + length(key) * 3 + 400), count(*)
            FROM directory_head WHERE \(condition)
            """, values
        ) { (Int($0.integer(at: 0)), Int($0.integer(at: 1))) }.first ?? (0, 0)
    }

    /// How much of the file an edit takes at most, in the same way.
    private static func size(of edit: Edit) -> Int {
        (edit.archive?.count ?? 0) / 3 * 4 + edit.key.name.unicodeScalars.count * 3 + 400
    }
}

// MARK: An edit

extension DirectoryState {
    private func make(_ edit: Edit, now: Int64) throws(SQLiteError) -> Outcome {
        let shown = try shown(of: edit.key)
        let isSame = ValueDigest(of: shown?.head.archive) == ValueDigest(of: edit.archive)
        if isSame {
            if let shown, try needsVoucher(shown.head, of: edit.key) {
                try vouch(for: edit, now: now)
            }
            return try outcome(.stands, of: edit.key)
        }
        let versions = try versions(of: edit.key)
        let base = VersionVector(bytes: edit.base?.context ?? [])
        let time = edit.time(at: now)
        own.counter += 1
        let head = Head(Dot(own.replica, own.counter), time: time, archive: edit.archive)
        // An orphan, and a removal that was dropped, count as well: this replica remembers them.
        let rivals = (versions.live.isEmpty ? [shown?.head].compactMap(\.self) : versions.live)
            .filter { !base.covers($0.dot) }
        if let rival = rivals.max(),
            !MergeRule.stands(
                (time: time, replica: own.replica),
                against: (time: rival.time, replica: rival.dot.replica))
        {
            try addLoser(head, of: edit.key)
            return try outcome(.lost, of: edit.key)
        }
        try replaceOwn(with: head, of: edit.key, versions, base: base)
        try settle(edit.key)
        return try outcome(.stands, of: edit.key)
    }

    /// Whether a value must be in this replica's file, too, although it is in another one (invariant 11).
    private func needsVoucher(_ shown: Head, of key: RoamingKey) throws(SQLiteError) -> Bool {
        let versions = try versions(of: key)
        guard try isOnlyInFormerFiles(shown, versions) else { return false }
        return !versions.heads.contains { $0.head.dot.replica == own.replica }
    }

    /// Makes a version of this replica beside one of the same value.
    private func vouch(for edit: Edit, now: Int64) throws(SQLiteError) {
        own.counter += 1
        let head = Head(
            Dot(own.replica, own.counter), time: edit.time(at: now), archive: edit.archive)
        try insert(head, of: edit.key, voucher: own.replica)
        hasNewContent = true
        try settle(edit.key)
    }

    /// Makes a version of this replica that replaces what its writer knew.
    private func replaceOwn(
        with head: Head, of key: RoamingKey, _ versions: KeyVersions, base: VersionVector
    ) throws(SQLiteError) {
        for dot in base.dots where dot.replica != own.replica {
            let isListed = versions.heads.contains { voucher, head in
                head.dot.replica == dot.replica && head.dot.counter <= dot.counter
            }
            let isNew = !versions.covers.covers(dot)
            try cover(dot, of: key, isPublished: isNew || isListed)
        }
        let earlier = versions.live.first { $0.dot.replica == own.replica }
        if let earlier {
            if !base.covers(earlier.dot),
                ValueDigest(of: earlier.archive) != ValueDigest(of: head.archive)
            {
                try addLoser(earlier, of: key)
            }
            try cover(earlier.dot, of: key, isPublished: false)
        }
        try insert(head, of: key, voucher: own.replica)
        hasNewContent = true
    }

    private func outcome(_ result: Outcome.Result, of key: RoamingKey) throws(SQLiteError)
        -> Outcome
    {
        let time = try shown(of: key)?.head.time ?? .unknown
        return Outcome(key: key, result: result, mark: try mark(of: key), time: time)
    }
}
