import DBus
import DefaultsProtocol
import DefaultsStorage
import Logging

/// What keeps changes from being kept: the sentences of the property StorageError.
struct StorageTrouble: Equatable {
    /// Why the last flush failed, whose changes are pending; empty while the disk takes them.
    var disk = ""
    /// What is damaged and could not be mended; empty while nothing is known to be.
    var damage = ""
    /// Why changes are refused; empty while the crash journal takes them.
    var journal = ""

    /// All of it; empty where there is none.
    var sentence: String {
        // A flush that meets the damage says the same of it.
        [disk, damage == disk ? "" : damage, journal].filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}

extension DefaultsObject {
    /// Tells, once, that changes are refused as the crash journal does not take them.
    func noteJournalFailure(_ error: StorageError) {
        guard trouble.journal.isEmpty else { return }
        let reason = error.cause.map { " \($0)" } ?? ""
        trouble.journal = "Changes are refused as the crash journal cannot be written:\(reason)"
        logger.error("\(trouble.journal)")
    }

    /// Tells that changes are taken again, where that was otherwise.
    func noteJournalWorks() {
        guard !trouble.journal.isEmpty else { return }
        trouble.journal = ""
        logger.notice("The crash journal takes changes again.")
    }

    /// Tells everybody on the bus, or the peer, that the property StorageError has changed; nobody
    /// hears it when they have gone.
    func announceTrouble() {
        do {
            try connection.assumeIsolated {
                try $0.propertiesChanged(
                    Contract.objectPath, Contract.interface, [Contract.storageError.name])
            }
        } catch let error as DBusError where error.name == .disconnected {
            logger.debug("Nobody is there to be told of the storage error.")
        } catch {
            logger.warning("Cannot tell of the storage error on the bus: \(error)")
        }
    }
}
