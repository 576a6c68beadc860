import DBus
import DefaultsStorage
import Glibc

/// The exit status of the daemon, with the numbers of sysexits.h.
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The number.
    package let rawValue: Int32

    /// Takes a number as a status.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Everything that the daemon acknowledged is on disk (0).
    package static let success = ExitStatus(rawValue: EX_OK)
    /// The command line is wrong (64).
    package static let usage = ExitStatus(rawValue: EX_USAGE)
    /// There is no bus or no peer, or another daemon has the name or the database (69).
    package static let unavailable = ExitStatus(rawValue: EX_UNAVAILABLE)
    /// The database cannot be opened or written (74).
    package static let inputOutput = ExitStatus(rawValue: EX_IOERR)

    /// The database is none of ours, of a later version, or damaged (65).
    package static let badDatabase = ExitStatus(rawValue: EX_DATAERR)

    init(of error: any Error) {
        switch (error as? StorageError)?.code {
        case nil, .inUse: self = .unavailable
        case .notOurDatabase, .newerSchema, .damagedDatabase: self = .badDatabase
        default: self = .inputOutput
        }
    }
}
