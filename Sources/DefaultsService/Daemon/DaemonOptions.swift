import DBus
package import DefaultsFiles
import DefaultsStorage
import Glibc
import SystemCalls
internal import Wording

/// The options of the daemon.
package struct DaemonOptions: Sendable {
    /// The callers to serve.
    package enum Callers: Hashable, Sendable {
        /// All programs on the session bus.
        case bus
        /// All programs on the session bus, replacing the daemon that is running there.
        case busReplacingOther
        /// One program, at the other end of a connected socket; no bus is needed.
        case peer(descriptor: Int32)

        var areOnBus: Bool {
            if case .peer = self { false } else { true }
        }
    }

    /// The callers to serve.
    package var callers: Callers
    /// The directory of the database; nil for the one that the environment names.
    package var databaseDirectory: String?

    /// The directories with the files of administrators and vendors.
    package var places = LayerPlaces.standard

    /// The names of the doors that are opened; see ``Doors/names``.
    package var doors: Set<String> = []

    /// The doors that the user has adopted, and those of the command line.
    ///
    /// The tool marks each adopted one with a file in the directory of the configuration.
    var openDoors: [any Door.Type] {
        guard callers.areOnBus, let location = try? DatabaseLocation.fromEnvironment() else {
            return Doors.named(doors)
        }
        let adopted = Doors.names.filter { FileStatus.ifAny("\(location.directory)/\($0)") != nil }
        return Doors.named(doors.union(adopted))
    }

    /// The directories of layers, with those of doors.
    func places(with doors: [any Door.Type]) -> LayerPlaces {
        var places = places
        for door in doors { door.addLayers(to: &places) }
        return places
    }

    /// Makes options.
    package init(
        serving callers: Callers = .bus, databaseDirectory: String? = nil,
        places: LayerPlaces = .standard
    ) {
        self.callers = callers
        self.databaseDirectory = databaseDirectory
        self.places = places
    }
}

/// The exit status of the daemon, as in sysexits.h.
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The number.
    package let rawValue: Int32

    /// Makes a status from a number.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Everything that the daemon acknowledged is on disk (0).
    package static let success = ExitStatus(rawValue: EX_OK)
    /// The command line is wrong (64).
    package static let usage = ExitStatus(rawValue: EX_USAGE)
    /// There is no bus or no peer, or another daemon has the name or the database (69).
    package static let unavailable = ExitStatus(rawValue: EX_UNAVAILABLE)
    /// The second process of the daemon has ended (71).
    package static let noHelper = ExitStatus(rawValue: EX_OSERR)
    /// The database cannot be opened or written (74).
    package static let inputOutput = ExitStatus(rawValue: EX_IOERR)

    /// The database is damaged, of a later version, or not a database of defaultsd (65).
    package static let badDatabase = ExitStatus(rawValue: EX_DATAERR)

    init(of error: any Error) {
        switch (error as? StorageError)?.code {
        case nil, .inUse: self = .unavailable
        case .notOurDatabase, .newerSchema, .damagedDatabase: self = .badDatabase
        default: self = .inputOutput
        }
    }
}

/// The reason that the daemon cannot serve, with the message that it ends with.
package struct LifeCycleError: Error, CustomStringConvertible {
    /// The message.
    package let description: String

    static let nameTaken = LifeCycleError(
        description:
            "The service is already running: another process owns org.defaultsd.Defaults1 on this "
            + "bus. To replace it, run defaultsd --replace.")

    static let ownerSilent = LifeCycleError(
        description:
            "Cannot take over: the process that owns org.defaultsd.Defaults1 on this bus does not "
            + "answer. End it ('systemctl --user kill defaultsd.service', or by the process number that "
            + "'busctl --user status org.defaultsd.Defaults1' shows), then start again.")

    /// - Parameter reason: The message of the owner of the name.
    static func handOverRefused(_ reason: String) -> LifeCycleError {
        LifeCycleError(
            description:
                "Cannot take over: another process owns org.defaultsd.Defaults1 on this bus "
                + "and keeps it: \(reason)")
    }

    /// - Parameter cause: The error of libdbus for a bus, or of this program for a peer.
    static func nobodyToServe(
        _ callers: DaemonOptions.Callers, _ cause: any Error
    ) -> any Error {
        guard let cause = cause as? DBusError else { return cause }
        // A bus that is there is neither missing nor elsewhere.
        if cause.name == .timeout { return LifeCycleError(description: cause.message) }
        return switch callers {
        case .bus, .busReplacingOther:
            LifeCycleError(
                description:
                    "There is no session bus to serve on: \(cause.reason). Start a bus, or "
                    + "set DBUS_SESSION_BUS_ADDRESS to its address.")
        case .peer: LifeCycleError(description: cause.message)
        }
    }

    static let notAPeer = LifeCycleError(
        description:
            "The program at the other end of the socket has closed it, or does not speak D-Bus. "
            + "Connect to the daemon with a D-Bus library.")

    static func tooFewDescriptors(_ limit: Int, least: Int) -> LifeCycleError {
        LifeCycleError(
            description:
                "This process may have only \(counted(limit, "file")) open, and needs \(least). Raise the limit with "
                + "'ulimit -n', or LimitNOFILE= in its unit.")
    }

    static let noDaemon = LifeCycleError(
        description: "Standard input is no socket that a daemon of this user is connected to.")

    static func noExaminer(_ cause: SystemError) -> LifeCycleError {
        LifeCycleError(
            description:
                "Callers cannot be identified: \(cause). The unit defaultsd-helper.socket must listen at "
                + "the socket that DEFAULTSD_HELPER names.")
    }

    static let helperEnded = LifeCycleError(
        description:
            "The second process of the daemon, \(HelperProcess.name), has ended or does not answer. Without "
            + "it, new callers cannot be identified. The daemon ends, and the next call starts it.")
}
