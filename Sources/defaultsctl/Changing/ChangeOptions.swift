import ArgumentParser
import DefaultsClient
import DefaultsProtocol
import KeyedArchive
import Wording

/// Options for when a change is done, and what is reported about it.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Wait until the change is on disk.")
    var wait = false

    @Flag(help: "Print 'changed' or 'unchanged'.")
    var changed = false

    /// Refuses options that apply to a whole document in a line of it.
    func refuseInDocument() throws(ToolError) {
        if wait { throw .waitInDocument }
        if changed { throw .changedInDocument }
    }

    /// Waits for the disk and reports, if the options say so.
    func finish(_ isChanged: Bool, on defaults: RemoteDefaults) async throws {
        if wait { try await defaults.synchronize() }
        try await report(isChanged, on: defaults)
    }

    /// Reports a change that has waited for the disk if the options say so, and says if the disk refuses
    /// changes.
    func report(_ isChanged: Bool, on defaults: RemoteDefaults) async throws {
        if !wait { await tellTrouble(of: defaults) }
        try tell(isChanged)
    }

    /// How long the answer about the disk may take.
    private static let patience = Duration.seconds(2)

    /// Says why the change is not on disk yet, if the service knows that the disk refuses changes.
    private func tellTrouble(of defaults: RemoteDefaults) async {
        guard let status = try? await defaults.status(within: Self.patience),
            status.pendingChanges > 0, !status.storageError.isEmpty
        else { return }
        Complaint.say("The change is made, but is not on disk yet. \(status.storageError)")
    }

    /// Reports whether something was changed, if the options say so.
    func tell(_ isChanged: Bool) throws {
        if changed { try SafeOutput.print(isChanged ? "changed" : "unchanged") }
    }
}

/// The condition for a change of a key.
struct ExpectationOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Change nothing unless the key still has this generation; 0 means a missing key.",
            valueName: "number"))
    var ifGeneration: UInt64?
}

/// What happens to keys that the administrator has locked.
struct LockOption: ParsableArguments {
    @Flag(
        help: """
            Leave locked keys as they are. Without this, one locked key makes the whole change fail.
            """)
    var skipLocked = false

    /// Whether a key that the layer does not have is locked, and locked keys are to be left as they
    /// are.
    ///
    /// - Throws: ``LockedKey`` if locked keys are not to be left. "Not found" would be misleading,
    ///   because the key has a value in the managed layer.
    func holds(_ key: String, in domain: String, of defaults: RemoteDefaults) async throws -> Bool {
        guard skipLocked else {
            try await defaults.checkLocks(of: [key], in: domain)
            return false
        }
        return try await !skipped(of: [key], in: domain, of: defaults).isEmpty
    }

    /// The keys that are left as they are.
    ///
    /// Standard error names them.
    func skipped(
        of keys: some Sequence<String>, in domain: String, of defaults: RemoteDefaults
    ) async throws -> Set<String> {
        guard skipLocked else { return [] }
        let locked = try await defaults.lockedKeys(of: keys, in: domain).map(\.key)
        if let first = locked.first {
            let others = locked.count > 1 ? " and \(counted(locked.count - 1, "other key"))" : ""
            Complaint.say(
                "'\(first.inBrief)'\(others) of \(domain.onOneLine) "
                    + "\(locked.count > 1 ? "are" : "is") locked by the administrator, and "
                    + "\(locked.count > 1 ? "were" : "was") left unchanged.")
        }
        return Set(locked)
    }
}

/// Something was changed between two looks, so that what was read is of neither.
struct ChangedMeanwhile: Error, CustomStringConvertible {
    let description =
        "Other programs kept changing the same keys. Nothing was changed by this command. Try again."
}

/// Changes that depend on the current values.
extension RemoteDefaults {
    /// The most bytes of archives and names that one change can have: the limit of D-Bus, minus some room for the
    /// rest of the message.
    static var mostBytesOfChange: Int { 60 << 20 }

    /// How often such a change is tried while other programs change the same keys.
    ///
    /// Each failed attempt means that another program's change has succeeded.
    private static var mostAttempts: Int { 100 }

    /// Tries again if another program has made a change meanwhile.
    func retrying<Result>(_ attempt: () async throws -> Result) async throws -> Result {
        for _ in 1..<Self.mostAttempts {
            do {
                return try await attempt()
            } catch let error as DefaultsError where error.code == .conflict {
                continue
            } catch is ChangedMeanwhile {
                continue
            }
        }
        return try await attempt()
    }

    /// Renames a key.
    ///
    /// - Parameter isReplacing: Whether to replace an existing value under the new name.
    /// - Throws: ``ToolError`` if there is such a value, and it is not to be replaced.
    func move(
        _ key: String, to newKey: String, in domain: String, replacing isReplacing: Bool
    ) async throws {
        try await retrying {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            guard newKey != key else { return }
            var transaction = DefaultsTransaction()
            if !isReplacing {
                guard try await archiveIfThere(forKey: newKey, in: domain).archive == nil else {
                    try await checkLocks(of: [newKey], in: domain)
                    throw ToolError.keyExists(newKey, in: domain)
                }
                transaction.expected[newKey] = 0
            }
            transaction.set(newKey, to: archive)
            transaction.remove(key)
            transaction.expected[key] = generation
            try await apply(transaction, in: domain)
        }
    }

    /// The archive of a key and its generation; nil and 0 if the key does not exist.
    func archiveIfThere(
        forKey key: String, in domain: String
    ) async throws -> (archive: KeyedArchive?, generation: UInt64) {
        do {
            let (archive, generation) = try await archive(forKey: key, in: domain)
            return (archive, generation)
        } catch let error as DefaultsError where error.code == .notFound {
            return (nil, 0)
        }
    }
}
