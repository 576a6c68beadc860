import DBus
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

    init(of layer: CopyLayer, _ reader: inout MessageReader) throws {
        self.layer = layer
        let sent = try reader.readArchives()
        entries = Attachment.entries(sent, try reader.readStrings())
        removed = try reader.readStrings().map(KeyName.init)
        generation = try reader.readUInt64()
        isPart = try reader.readBool()
    }
}
