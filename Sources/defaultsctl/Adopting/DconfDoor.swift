import DBus
import DefaultsDconf
import SystemCalls

/// Programs that use libdconf: they read dconf's file themselves, and change it by its service.
///
/// While it is adopted, the daemon writes the file. It only shows what is in the database.
struct DconfDoor: DesktopDoor {
    static let name = "dconf"
    static let summary = "programs that use dconf's library"
    let rival = "dconf"
    let busNames = [DconfStore.service]
    let writers = [DconfStore.service]
    let showsDatabase = true
    let sharedImport: String? = DconfStore.file
    private let store: DconfStore
    /// The domains that are in the file.
    private let domains: Set<String>

    init(in places: Places) throws(ToolError) {
        store = try DconfStore(in: places)
        domains = store.domains
    }

    var isView: Bool { store.isView }

    /// As the daemon decides it.
    func covers(_ domain: String) -> Bool {
        domains.contains(domain)
            || DconfDomains.arePublished(domain, families: store.schemas.families)
    }

    func snapshot() throws -> Snapshot { try store.snapshot() }
    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] { try store.read(snapshot) }
    func write(_ domains: [ImportedDomain]) throws { try store.write(domains) }

    func prospect(of domains: [ImportedDomain]) throws -> Snapshot? {
        guard store.isView || store.isMissing else { return nil }
        return Snapshot([DconfStore.file: try store.bytes(with: domains)])
    }
}
