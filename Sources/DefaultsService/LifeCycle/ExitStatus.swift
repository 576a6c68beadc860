import DBus
import DefaultsStorage
import Glibc

/// The exit status of the daemon, with the numbers of sysexits.h.
public struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int32

    /// Takes a number as a status.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Everything that the daemon acknowledged is on disk (0).
    public static let success = ExitStatus(rawValue: EX_OK)
    /// The command line is wrong (64).
    public static let usage = ExitStatus(rawValue: EX_USAGE)
    /// There is no bus or no peer, or another daemon has the name or the database (69).
    public static let unavailable = ExitStatus(rawValue: EX_UNAVAILABLE)
    /// The database cannot be opened or written (74).
    public static let inputOutput = ExitStatus(rawValue: EX_IOERR)

    /// The database is none of ours, of a later version, or damaged (65).
    public static let badDatabase = ExitStatus(rawValue: EX_DATAERR)

    init(of error: any Error) {
        switch (error as? StorageError)?.code {
        case nil, .inUse: self = .unavailable
        case .notOurDatabase, .newerSchema, .damagedDatabase: self = .badDatabase
        default: self = .inputOutput
        }
    }
}
