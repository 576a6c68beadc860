import DefaultsClient
import DefaultsTerms
import Wording

/// Domains with values for machines that are known by their IDs only, as after the restoration of a
/// backup from another machine.
///
/// They apply on no machine that uses this database. A machine that has used it is known by its name.
struct UnnamedMachines {
    /// A domain and the ID of the machine that its values are for.
    private struct Place {
        let domain: String
        let machine: String

        /// The place as calls and commands spell it.
        var spelling: String { domain + LayerName.suffix(ofHost: machine) }
    }

    private let places: [Place]

    init(knownTo defaults: RemoteDefaults) async throws {
        let named = Set(try await defaults.hosts().filter { !$0.name.isEmpty }.map(\.id))
        self.init(
            domains: try await defaults.domains(), namedMachines: named)
    }

    /// - Parameters:
    ///   - domains: Domains as the service spells them.
    ///   - named: The IDs of the machines whose names are known.
    init(domains: [String], namedMachines named: Set<String>) {
        let prefix = LayerName.suffix(ofHost: "")
        places = domains.compactMap { spelling in
            let domain = spelling.withoutLayer
            let suffix = spelling.dropFirst(domain.count)
            guard suffix.hasPrefix(prefix) else { return nil }
            let machine = String(suffix.dropFirst(prefix.count))
            guard Self.isMachineID(machine), !named.contains(machine) else { return nil }
            return Place(domain: domain, machine: machine)
        }
    }

    /// Whether it has the form of machine-id(5).
    private static func isMachineID(_ word: String) -> Bool {
        word.utf8.count == 32 && word.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    /// What there is; nil if there is nothing.
    var fact: String? {
        guard let first = places.first else { return nil }
        let machines = Set(places.map(\.machine)).count
        let owner = machines == 1 ? "a machine that is" : "\(machines) machines that are"
        return
            "\(counted(places.count, "domain", verb: "has", "have")) values for \(owner) known by ID "
            + "only, such as \(first.spelling.onOneLine). They do not apply here."
    }

    /// The command that takes the values over to this machine.
    var advice: String? {
        guard let first = places.first else { return nil }
        let each = places.count == 1 ? "" : ", and so on for the other domains"
        return "To take them over to this machine: defaultsctl export --format binary "
            + "\(first.spelling.onOneLine) - | defaultsctl -currentHost import \(first.domain.onOneLine) "
            + "-\(each)"
    }
}
