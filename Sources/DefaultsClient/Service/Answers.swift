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
                    slot: $0.slot, entries: Self.entries($0.entries, $0.large), locked: $0.locked)
            )
        }
        self.domains = Dictionary(domains) { first, _ in first }
    }

    /// Entries of values that were sent, and of those that were only named.
    static func entries(_ sent: [(String, [UInt8])], _ large: [String]) -> [KeyName: Entry] {
        let named = large.map { (KeyName($0), Entry(.large)) }
        let sent = sent.map { (KeyName($0.0), Entry(.archive($0.1))) }
        return Dictionary(sent + named) { first, _ in first }
    }

    /// The layers of a domain.
    func reading(of name: String) -> DomainCopy.Reading {
        var layers: [LayerName: [KeyName: Entry]] = [:]
        for layer in LayerName.allCases {
            layers[layer] = domains[layer.spelling(of: name)]?.entries ?? [:]
        }
        return DomainCopy.Reading(
            layers: layers, locks: LockedNames(domains[name]?.locked ?? []), generation: generation)
    }

    /// The word that tells of a domain's changes.
    func counter(of name: String, on page: CounterPage?) -> Counter? {
        domains[name].flatMap { page?.counter(atWord: $0.slot) }
    }
}

/// What the service answers to `GetChanges`.
struct LayerChanges: Sendable {
    let layer: LayerName
    /// The values that are new, or all of the layer.
    let entries: [KeyName: Entry]
    let removed: [KeyName]
    let generation: UInt64
    /// Whether the entries are what has changed, and not the whole layer.
    let isPart: Bool

    init(of layer: LayerName, _ reply: Contract.GetChanges.Reply) {
        self.layer = layer
        entries = Attachment.entries(reply.changed, reply.large)
        removed = reply.removed.map(KeyName.init)
        generation = reply.generation
        isPart = reply.isComplete
    }
}
