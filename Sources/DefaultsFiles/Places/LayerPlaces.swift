package import DefaultsModel
internal import DefaultsXfconf

/// The directories that hold the files of the layers.
package struct LayerPlaces: Sendable, Equatable {
    /// The directory with the administrator's mandatory values and locks.
    package var managed: String
    /// The directory with the values that the administrator recommends.
    package var recommended: String
    /// The directory with the values that applications install.
    ///
    /// Recommended values have priority over them.
    package var vendor: String
    /// Where the channels of Xfconf are; nil if they are not served.
    ///
    /// All other places have priority over them.
    package var channels: ChannelPlaces?

    /// The usual directories.
    package static let standard = LayerPlaces(
        managed: "/etc/defaultsd/managed", recommended: "/etc/xdg/defaultsd",
        vendor: "/usr/share/defaultsd")

    /// Names the directories.
    ///
    /// They need not exist.
    package init(managed: String, recommended: String, vendor: String) {
        self.managed = managed
        self.recommended = recommended
        self.vendor = vendor
    }

    /// All directories.
    package var directories: [String] {
        LayerPlace.allCases.map { self[$0] } + (channels?.directories ?? [])
    }

    /// The directory of a place.
    package subscript(place: LayerPlace) -> String {
        switch place {
        case .managed: managed
        case .recommended: recommended
        case .vendor: vendor
        }
    }
}

/// One of the directories that hold files of a layer.
package enum LayerPlace: String, CaseIterable, Sendable {
    /// Mandatory values and locks of the administrator.
    case managed
    /// Values that the administrator recommends.
    case recommended
    /// Values that applications were delivered with.
    case vendor

    /// The layer of its files.
    package var layer: Layer {
        switch self {
        case .managed: .managed
        case .recommended, .vendor: .system
        }
    }
}
