@preconcurrency import Glibc

/// The directories that the environment names.
struct Places {
    let home: String?
    let config: String?
    let runtime: String?
    /// Where the bus looks for activation files, the first one first.
    let services: [String]
    /// Where the user's service manager looks for units, the first one first.
    let units: [String]

    /// Looks up a variable; one that is no absolute path counts as unset.
    ///
    /// See the [XDG Base Directory
    /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
    init() {
        func path(_ name: String) -> String? {
            Self.variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        home = path("HOME")
        config = path("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" }
        runtime = path("XDG_RUNTIME_DIR")
        let ownData = path("XDG_DATA_HOME") ?? home.map { "\($0)/.local/share" }
        let allData = Self.variable("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 }
        let data =
            [ownData].compactMap(\.self)
            + (allData ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
        let runtimeServices = runtime.map { ["\($0)/dbus-1/services"] } ?? []
        services = runtimeServices + data.map { "\($0)/dbus-1/services" }
        let units = [config, "/etc", runtime, ownData, "/usr/local/lib", "/usr/local/share"]
        self.units = (units + ["/usr/lib", "/usr/share"]).compactMap(\.self)
            .map { "\($0)/systemd/user" }
    }

    /// The directory of the database; nil where no place is named.
    var database: String? { config.map { "\($0)/defaultsd" } }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
