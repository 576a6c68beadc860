package import Logging

/// The events that the journal explains: `journalctl -x` shows the text that `defaultsd.catalog` has
/// for the ID of the event.
///
/// See <https://systemd.io/CATALOG/>. An ID never changes its meaning.
package enum JournalMessage: String, CaseIterable, Sendable {
    /// The daemon has started, and answers calls.
    case serving = "5762bffeab4d4a639b99f48a590ae06a"
    /// The daemon could not start, or cannot continue.
    case ending = "2d82613491954fc4aaed630c2fd6e172"
    /// Another program owns a name that the daemon is to serve.
    case nameTaken = "f3c0f28856724723a1ad4aa695329b05"
    /// Changes cannot be written to disk.
    case diskFails = "1aaf83a5d6c94b8b88f3ed4cf4045bb1"
    /// Changes are written to disk again.
    case diskWorks = "04f055d3f86a4a408119545503cfd89d"
    /// Changes are refused, because the crash journal cannot be written.
    case journalFails = "676f6b3feca44f9aa60943a73dbc963e"
    /// Changes are accepted again.
    case journalWorks = "60ab2bdc43e146079c93abb920c22766"
    /// The database is damaged.
    case damage = "ec50ccb98c72451ca4dc77cc0e44c476"
    /// The database was repaired.
    case repaired = "6e4a67a4dc5f4532b81284d7adb71d3b"
    /// No backup could be made.
    case backupFails = "f35366fa39474c9b847f07c5a63e8eaa"
    /// A file of an administrator or a vendor is invalid.
    case invalidFile = "99c5655708664128b3f8a4053a7951a9"
    /// A program in a sandbox was refused a call.
    case callRefused = "1d9c5392ee254650b1bb2f07668a0ba5"
    /// A change was refused because of a quota.
    case quotaReached = "7650f8dec0454f9c93ac14de8f88e510"
    /// The daemon has not given up the rights that it does not need.
    case notConfined = "303acb83dfac4a8393fd21e506bc1a74"
}

extension Logger {
    /// Logs an event that the journal explains.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - level: How much it matters.
    ///   - sentence: What has happened; it contains no value.
    ///   - fields: Facts of the sentence by which the journal can be searched.
    package func log(
        _ event: JournalMessage, level: Level, _ sentence: @autoclosure () -> String,
        fields: [JournalField: String] = [:]
    ) {
        var metadata: Metadata = [JournalField.messageID.rawValue: .string(event.rawValue)]
        for (field, value) in fields { metadata[field.rawValue] = .string(value) }
        log(level: level, "\(sentence())", metadata: metadata)
    }
}

/// The fields of the daemon's entries in the journal, besides those of every entry.
///
/// Lines on a terminal leave them out: they repeat what the sentence says.
package enum JournalField: String, CaseIterable, Sendable {
    /// The ID of the event.
    case messageID = "MESSAGE_ID"
    /// The domain that the event is about.
    case domain = "DEFAULTSD_DOMAIN"
    /// The file that the event is about.
    case path = "DEFAULTSD_PATH"
    /// The program that has called.
    case program = "DEFAULTSD_PROGRAM"
    /// The newest change at the time of the event.
    case generation = "DEFAULTSD_GENERATION"
}
