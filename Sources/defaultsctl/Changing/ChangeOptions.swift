import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive

/// When a change is done, and what is reported about it.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Wait until the change is on disk.")
    var wait = false

    @Flag(help: "Print 'changed', or 'unchanged' if nothing had to be changed.")
    var changed = false

    /// Refuses what is for all changes of a document, in a line of it.
    func refuseInDocument() throws(ToolError) {
        if wait { throw .waitInDocument }
        if changed { throw .changedInDocument }
    }

    /// Waits where that is asked for, and tells.
    func finish(_ isChanged: Bool, on defaults: RemoteDefaults) async throws {
        if wait { try await defaults.synchronize() }
        try tell(isChanged)
    }

    /// Tells whether something was changed, where that is asked for.
    func tell(_ isChanged: Bool) throws {
        if changed { try SafeOutput.print(isChanged ? "changed" : "unchanged") }
    }
}

/// On what a change of a key depends.
struct ExpectationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Change nothing unless the key still has this generation; 0 is a key that is not there.",
            valueName: "number"))
    var ifGeneration: UInt64?
}

/// What becomes of keys that the administrator has locked.
struct LockOption: ParsableArguments {
    @Flag(help: "Leave locked keys as they are; otherwise one refuses the whole change.")
    var skipLocked = false

    /// Whether a key that the layer lacks is locked, and is to be left as it is.
    ///
    /// - Throws: ``LockedKey`` if locked keys are not to be left: that the key is not found would be
    ///   half of the truth, as one value of it holds.
    func holds(_ key: String, in domain: String, of defaults: RemoteDefaults) async throws -> Bool {
        guard skipLocked else {
            try await defaults.checkLocks(of: [key], in: domain)
            return false
        }
        return try await !skipped(of: [key], in: domain, of: defaults).isEmpty
    }

    /// The keys that are to be left as they are; standard error names them.
    func skipped(
        of keys: some Sequence<String>, in domain: String, of defaults: RemoteDefaults
    ) async throws -> Set<String> {
        guard skipLocked else { return [] }
        let locked = try await defaults.lockedKeys(of: keys, in: domain).map(\.key)
        if let first = locked.first {
            let others = locked.count > 1 ? " and \(Amount.of(locked.count - 1, "other key"))" : ""
            Complaint.say(
                "'\(first.inBrief)'\(others) of \(domain.onOneLine) "
                    + "\(locked.count > 1 ? "are" : "is") locked by the administrator, and "
                    + "\(locked.count > 1 ? "were" : "was") left as before.")
        }
        return Set(locked)
    }
}

/// Changes that depend on what is there.
extension RemoteDefaults {
    /// How often such a change is tried while others change the same keys; each time one of them
    /// succeeds.
    private static var mostAttempts: Int { 100 }

    /// Does again what another's change meanwhile has made void.
    func retrying<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await attempt()
            } catch let error as ClientError where error.code == .conflict {
                continue
            }
        }
        return try await attempt()
    }

    /// Gives a key another name; a value that has that name already is replaced, as on macOS.
    func move(_ key: String, to newKey: String, in domain: String) async throws {
        try await retrying {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            guard newKey != key else { return }
            var transaction = DefaultsTransaction()
            transaction.set(newKey, to: archive)
            transaction.remove(key)
            transaction.expected[key] = generation
            try await apply(transaction, in: domain)
        }
    }

    /// The archive of a key and its generation; nil and 0 where there is none.
    func archiveIfThere(
        forKey key: String, in domain: String
    ) async throws -> (archive: KeyedArchive?, generation: UInt64) {
        do {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            return (archive, generation)
        } catch let error as ClientError where error.code == .notFound {
            return (nil, 0)
        }
    }
}
