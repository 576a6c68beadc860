public import DefaultsModel

/// The files of the layers, in the order in which they count.
public struct LayerListing: Sendable {
    /// For each domain that has any, its layer included, the files from the weakest to the strongest:
    /// the vendor's before the recommended ones; in a place the main files before the drop-ins, each by
    /// name, byte by byte.
    public let files: [Domain: [LayerFile]]
    /// Names that are of no domain, and directories that cannot be read.
    public let problems: [LayerProblem]

    /// Lists the files of all places. Nothing but directories is opened.
    public init(of places: LayerPlaces) {
        var scan = PlaceScan()
        // Weaker places come first.
        for place in [LayerPlace.vendor, .recommended, .managed] {
            scan.add(places[place], layer: place.layer)
        }
        (files, problems) = (scan.files, scan.problems)
    }

    /// Lists the files of a directory, as one of the places.
    public init(of directory: String, as place: LayerPlace) {
        var scan = PlaceScan()
        scan.add(directory, layer: place.layer)
        (files, problems) = (scan.files, scan.problems)
    }
}
