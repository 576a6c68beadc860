import DBus
import DefaultsProtocol
import DefaultsTerms
import SystemCalls

/// What the service answers to `Attach`.
struct Attachment: Sendable {
    private struct Domain: Sendable {
        let slot: UInt32
        let entries: [KeyName: Entry]
        let locked: [String]
    }

    let page: FileDescriptor
    private let domains: [String: Domain]
    private let generation: UInt64

    init(_ reply: Contract.Attach.Reply) {
        page = reply.page
        generation = reply.generation
        let domains = reply.domains.map {
            (
                $0.spelling,
                Domain(
                    slot: $0.slot, entries: Entry.entries(sent: $0.entries, named: $0.large),
                    locked: $0.locked)
            )
        }
        self.domains = Dictionary(domains) { first, _ in first }
    }

    /// The layers of a domain.
    func reading(of name: String) -> LayerReading {
        var layers: [LayerName: [KeyName: Entry]] = [:]
        for layer in LayerName.allCases {
            layers[layer] = domains[layer.spelling(of: name)]?.entries ?? [:]
        }
        return LayerReading(
            layers: layers, locks: LockedNames(domains[name]?.locked ?? []), generation: generation)
    }

    /// The word that tells of a domain's changes.
    func counter(of name: String, on page: CounterPage?) -> Counter? {
        domains[name].flatMap { page?.counter(atWord: $0.slot) }
    }
}
