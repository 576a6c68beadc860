import DBus
import DefaultsClient
import DefaultsPortal
@preconcurrency import Glibc
import SystemCalls

/// Programs in a sandbox: the Settings portal, which asks defaultsd before its other backends.
///
/// There is nothing to import: the other backends keep what they have, and answer what has no value here.
struct PortalDoor: DesktopDoor {
    static let name = "portal"
    static let summary = "the appearance that programs in a sandbox see"
    let rival = "the other backends of the Settings portal"
    let busNames = [Portal.busName]
    let hasValues = false
    private let places: PortalPlaces
    /// Whether the bus can start the portal.
    private let isPortalInstalled: Bool

    /// The portal, which programs call.
    private static let portal: BusName = "org.freedesktop.portal.Desktop"

    init(in places: Places) throws(ToolError) {
        self.places = try PortalPlaces(in: places)
        isPortalInstalled = places.services.contains {
            FileStatus.ifAny("\($0)/\(Self.portal).service") != nil
        }
    }

    func check() throws {
        guard isPortalInstalled else { throw ToolError.noPortal }
        guard places.haveOurs else { throw ToolError.noBackend(places.backends) }
    }

    private var configuration: PortalConfiguration {
        get throws(ToolError) {
            try PortalConfiguration(in: places, otherwise: places.otherwise)
        }
    }

    // MARK: The way of the portal to defaultsd

    var entryFiles: [String] { (try? configuration.path).map { [$0] } ?? [] }
    var isEntered: Bool { (try? configuration.namesUs) ?? false }
    func enter() throws { try configuration.write() }
    func leave() throws { try PortalConfiguration.remove(in: places) }

    func advice(isAdopted: Bool, over bus: Connection) async -> String? {
        guard let owner = try? await bus.owner(of: Self.portal),
            let process = await bus.processID(of: owner),
            await bus.listens(owner, to: Portal.busName) != isAdopted
        else { return nil }
        let command =
            Self.unit(of: process).map { "systemctl --user restart \($0)" } ?? "kill \(process)"
        return
            "Restart the portal (process \(process)), which has read its files already: \(command)"
    }

    /// The unit that the service manager runs a process in.
    private static func unit(of process: UInt32) -> String? {
        let groups = (try? InputFile.contents(of: "/proc/\(process)/cgroup", limit: 1 << 16)) ?? []
        let unit = "xdg-desktop-portal.service"
        return String(decoding: groups, as: UTF8.self).contains("/\(unit)") ? unit : nil
    }

    // MARK: Values

    func snapshot() throws -> Snapshot { Snapshot() }
    func read(_ snapshot: Snapshot) throws -> [ImportedDomain] { [] }
    func write(_ domains: [ImportedDomain]) throws {}
    func covers(_ domain: String) -> Bool { false }
}

extension Connection {
    /// Whether a connection has a match rule for signals of a name; nil if the bus does not show rules.
    fileprivate func listens(_ listener: BusName, to sender: BusName) async -> Bool? {
        let reply = try? await call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
            "GetAllMatchRules")
        guard case .dictionary(_, _, let entries)? = reply?.first else { return nil }
        return entries.contains { entry in
            guard entry.key == .string(listener.string), case .array(_, let rules) = entry.value
            else {
                return false
            }
            return rules.contains { rule in
                if case .string(let text) = rule {
                    text.contains("sender='\(sender)'")
                } else {
                    false
                }
            }
        }
    }
}
