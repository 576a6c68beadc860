package import DefaultsStorage
import Logging

/// Why changes cannot be stored: the sentences in the property StorageError.
///
/// They name no domain and no key, because programs in a sandbox read them, too.
struct StorageTrouble: Equatable {
    /// Why the last flush failed, so that its changes are still pending; empty while flushes
    /// succeed.
    var disk = ""
    /// What is damaged and could not be repaired; empty while no damage is known.
    var damage = ""
    /// Why changes are refused; empty while the crash journal works.
    var journal = ""

    /// For damage that remains.
    static func unrepaired(_ path: String) -> String {
        "\(path) is damaged, and a repair a moment ago has not helped. The log says what is damaged. If "
            + "the damage stays, restore a backup with 'defaultsctl backup restore'."
    }

    /// For a store that is not in its place any more, until it is written again.
    static func moved(_ path: String) -> String {
        "\(path) or its directory was moved, removed or replaced while it was in use. Until the next "
            + "flush has written everything where the path leads by now, only this process and its "
            + "crash journal have the last changes."
    }

    /// All of these sentences; empty if there are none.
    var sentence: String {
        [disk, damage, journal].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// Why changes cannot be stored now.
///
/// It calls back when the reason changes.
final class TroubleKeeper {
    private let logger: Logger
    private(set) var now = StorageTrouble()
    /// Called when it has changed.
    var tell: () -> Void = {}

    init(logger: Logger) {
        self.logger = logger
    }

    /// Notes why something does not work; an empty sentence if it does.
    func set(_ kind: WritableKeyPath<StorageTrouble, String>, _ sentence: String) {
        guard now[keyPath: kind] != sentence else { return }
        now[keyPath: kind] = sentence
        tell()
    }

    /// Reports, once, that changes are refused because the crash journal cannot be written.
    func noteJournalFailure(_ error: StorageError) {
        guard now.journal.isEmpty else { return }
        let reason = error.cause.map { " \($0)" } ?? ""
        let sentence = "Changes are refused because the crash journal cannot be written:\(reason)"
        set(\.journal, sentence)
        logger.log(.journalFails, level: .error, sentence)
    }

    /// Reports that changes are accepted again, if they were refused.
    func noteJournalWorks() {
        guard !now.journal.isEmpty else { return }
        set(\.journal, "")
        logger.log(.journalWorks, level: .notice, "The crash journal accepts changes again.")
    }
}

extension StorageError {
    /// Whether the error says that the store is damaged.
    package var isDamage: Bool { code == .damagedRow || code == .damagedDatabase }
}
