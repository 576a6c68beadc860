import DBus
import DconfFiles
import DefaultsDconf
import SystemCalls

/// GTK and GNOME programs: the database of dconf, which the GSettings module replaces.
///
/// A program chooses its backend when it starts. So programs that run keep the old one until they end,
/// and their changes are taken over by the next run of the command.
struct GSettingsDoor: DesktopDoor {
    static let name = "gsettings"
    static let summary = "GTK and GNOME programs"
    let rival = "dconf"
    let busNames: [BusName] = []
    let writers = [DconfStore.service]
    var library: String? { Self.module }
    private static let module = "libgsettingsdefaults.so"
    let rivalLibrary: String? = "libdconfsettings.so"
    let sharedImport: String? = DconfStore.file
    private let store: DconfStore

    init(in places: Places) throws(ToolError) {
        store = try DconfStore(in: places)
    }

    /// Whether programs can find the module.
    ///
    /// - Throws: `ToolError` if it is where GIO does not look.
    func check() throws {
        let extra = (Defaultsctl.console.variable("GIO_EXTRA_MODULES") ?? "").split(separator: ":")
            .map(
                String.init)
        let own = Defaultsctl.console.variable("GIO_MODULE_DIR").map { [$0] }
        let libraries = ["/usr/lib", "/usr/lib64", "/lib"].flatMap { directory in
            [directory] + Directory.readableNames(in: directory).map { "\(directory)/\($0)" }
        }
        let all = extra + (own ?? libraries.map { "\($0)/gio/modules" })
        guard all.contains(where: { FileStatus.ifAny("\($0)/\(Self.module)") != nil }) else {
            throw ToolError.noModule(Self.module)
        }
    }

    var isView: Bool { store.isView }

    func covers(_ domain: String) -> Bool {
        domain == SettingsPath.unnamedDomain || store.schemas.mayHave(domain: domain)
    }

    func snapshot() throws -> Snapshot { try store.snapshot() }
    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] { try store.read(snapshot) }
    func write(_ domains: [ImportedDomain]) throws { try store.write(domains) }
}
