import DefaultsProtocol
import DefaultsTerms

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
