package import DefaultsFiles

/// How the daemon is to serve.
public struct DaemonOptions: Sendable {
    /// Whom it serves.
    public enum Callers: Hashable, Sendable {
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
    public var callers: Callers
    /// Where to keep the database; nil for the place that the environment names.
    public var databaseDirectory: String?

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
