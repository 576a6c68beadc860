import DefaultsProtocol

/// What the service answers to `GetChanges`.
struct LayerChanges: Sendable {
    let layer: CopyLayer
    /// The values that are new, or all of the layer.
    let entries: [KeyName: Entry]
    let removed: [KeyName]
    let generation: UInt64
    /// Whether the entries are what has changed, and not the whole layer.
    let isPart: Bool

    init(of layer: CopyLayer, _ reply: Contract.GetChanges.Reply) {
        self.layer = layer
        entries = Attachment.entries(reply.changed, reply.large)
        removed = reply.removed.map(KeyName.init)
        generation = reply.generation
        isPart = reply.isComplete
    }
}
