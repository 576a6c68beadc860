import DBus
package import DefaultsFiles
import DefaultsStorage
import Glibc
import SystemCalls

/// How the daemon is to serve.
package struct DaemonOptions: Sendable {
    /// Whom it serves.
    package enum Callers: Hashable, Sendable {
        /// Everybody on the session bus.
        case bus
        /// Everybody on the session bus, in place of the daemon that serves there now.
        case busReplacingOther
        /// One program, at the other end of a connected socket; no bus is needed.
        case peer(descriptor: Int32)

        var areOnBus: Bool {
            if case .peer = self { false } else { true }
        }
    }

    /// Whom it serves.
    package var callers: Callers
    /// Where to keep the database; nil for the place that the environment names.
    package var databaseDirectory: String?

    /// Where the files of administrators and vendors are.
    package var places = LayerPlaces.standard

    /// Gathers options.
    package init(
        serving callers: Callers = .bus, databaseDirectory: String? = nil,
        places: LayerPlaces = .standard
    ) {
        self.callers = callers
        self.databaseDirectory = databaseDirectory
        self.places = places
    }
}

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

/// Why the daemon cannot serve, with the sentence that it ends with.
package struct LifeCycleError: Error, CustomStringConvertible {
    /// The sentence.
    package let description: String

    static let nameTaken = LifeCycleError(
        description:
            "The service runs already: another process owns org.defaultsd.Defaults1 on this "
            + "bus. Nothing has to be started.")

    static let ownerSilent = LifeCycleError(
        description:
            "Cannot take over: the process that owns org.defaultsd.Defaults1 on this bus does not "
            + "answer. End it ('systemctl --user kill defaultsd.service', or by its number, which "
            + "'busctl --user status org.defaultsd.Defaults1' says), then start again.")

    /// - Parameter reason: What the one that has the name says.
    static func handOverRefused(_ reason: String) -> LifeCycleError {
        LifeCycleError(
            description:
                "Cannot take over: another process owns org.defaultsd.Defaults1 on this bus "
                + "and keeps it. It says: \(reason)")
    }

    /// - Parameter cause: What libdbus says of a bus, and this program of a peer.
    static func nobodyToServe(
        _ callers: DaemonOptions.Callers, _ cause: DBusError
    ) -> LifeCycleError {
        switch callers {
        case .bus, .busReplacingOther:
            LifeCycleError(
                description: "There is no session bus to serve on: \(cause.message). Start one, or "
                    + "see that DBUS_SESSION_BUS_ADDRESS names it.")
        case .peer: LifeCycleError(description: cause.message)
        }
    }

    static let notAPeer = LifeCycleError(
        description: "The other end of the socket has closed it, or has sent what is not D-Bus, "
            + "before it was connected. Connect to it with a D-Bus library.")

    static func signals(errno: Int32) -> LifeCycleError {
        LifeCycleError(description: "Cannot receive signals: \(SystemError.words(for: errno)).")
    }
}
