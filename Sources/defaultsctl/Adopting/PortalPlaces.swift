import DBus
import DefaultsPortal
import SystemCalls

/// Where xdg-desktop-portal looks for its backends, and for the files that choose among them.
struct PortalPlaces {
    /// The user's directory of files that choose.
    let own: String
    /// The directories of such files, in the order of the portal.
    let configurations: [String]
    /// The names of such files, in the order of the portal: those for the desktop first.
    let names: [String]
    /// The directories of backends, in the order of the portal.
    let backends: [String]
    /// The names of the desktop, in lower case.
    private let desktops: [String]

    /// The name of the file for all desktops.
    static let general = "portals.conf"
    private static let folder = "xdg-desktop-portal"

    init(in places: Places) throws(ToolError) {
        guard let config = places.config, let data = places.ownData else { throw .noHome }
        func list(_ variable: String, otherwise: String) -> [String] {
            let text =
                Defaultsctl.console.variable(variable).flatMap { $0.isEmpty ? nil : $0 }
                ?? otherwise
            return text.split(separator: ":").map(String.init)
        }
        let allData =
            [data] + list("XDG_DATA_DIRS", otherwise: "/usr/local/share:/usr/share")
            + ["/usr/share"]
        let all = [config] + list("XDG_CONFIG_DIRS", otherwise: "/etc/xdg") + ["/etc"] + allData
        own = "\(config)/\(Self.folder)"
        configurations = all.map { "\($0)/\(Self.folder)" }
        desktops = list("XDG_CURRENT_DESKTOP", otherwise: "").filter { !$0.contains("/") }
            .map { $0.lowercased() }
        names = desktops.map { "\($0)-\(Self.general)" } + [Self.general]
        let test = Defaultsctl.console.variable("XDG_DESKTOP_PORTAL_DIR").map { [$0] }
        backends = test ?? allData.map { "\($0)/\(Self.folder)/portals" }
    }

    /// Whether our backend is where the portal looks.
    var haveOurs: Bool {
        backends.contains { FileStatus.ifAny("\($0)/\(PortalConfiguration.backend).portal") != nil }
    }

    /// The backends for settings that the portal asks if no file names any: those for the desktop, and
    /// otherwise that of GTK.
    var otherwise: [String] {
        var found: [String] = []
        for directory in backends {
            for file in Directory.readableNames(in: directory).sorted()
            where file.hasSuffix(".portal") {
                guard let backend = KeyFile("\(directory)/\(file)"),
                    Self.list(backend["Interfaces"]).contains(Portal.interface.string),
                    Self.list(backend["UseIn"]).contains(where: {
                        desktops.contains($0.lowercased())
                    })
                else { continue }
                let name = String(file.dropLast(".portal".count))
                if !found.contains(name) { found.append(name) }
            }
        }
        return found.isEmpty ? ["gtk"] : found
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ";").map(String.init)
    }
}
