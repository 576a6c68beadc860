public import DefaultsModel

/// One of the directories that hold files of a layer.
public enum LayerPlace: String, CaseIterable, Sendable {
    /// Mandatory values and locks of the administrator.
    case managed
    /// Values that the administrator recommends.
    case recommended
    /// Values that applications were delivered with.
    case vendor

    /// The layer that its files are of.
    public var layer: Layer {
        switch self {
        case .managed: .managed
        case .recommended, .vendor: .system
        }
    }
}
