package import DefaultsStorage

/// Work that does not end at once.
///
/// Only the service's actor can start it: nothing in this module starts a task.
package enum Work: Sendable {
    /// Does what is due on disk.
    case disk
    /// Writes what a flush has begun with.
    case flush(FlushBatch)
    /// Makes an intact store from the damaged one.
    case repair(because: String)
    /// Restarts the log, so that a snapshot can be taken.
    case prepareLog
    /// Reads the files of administrators and vendors.
    case readLayers
    /// Carries out the requests for backups and other upkeep.
    case upkeep
}
