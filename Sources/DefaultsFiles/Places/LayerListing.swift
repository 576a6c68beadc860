public import DefaultsModel

/// The files of the layers, in the order in which they count.
public struct LayerListing: Sendable {
    /// For each domain that has any, its layer included, the files from the weakest to the strongest:
    /// the vendor's before the recommended ones; in a place the main files before the drop-ins, each by
    /// name, byte by byte.
    public let files: [Domain: [LayerFile]]
    /// Names that are of no domain, and directories that cannot be read.
    public let problems: [LayerProblem]
    /// What is suspicious and keeps nothing from being read, and names that say nothing, but perhaps are
    /// meant to.
    public let remarks: [LayerProblem]

    /// Lists the files of all places, and opens nothing but directories.
    ///
    /// - Parameter paths: The files that were there before. Those in a directory that is there and
    ///   cannot be read now are listed as if they still were.
    public init(of places: LayerPlaces, remembering paths: [String] = []) {
        var scan = PlaceScan(remembering: paths)
        // Weaker places come first.
        for place in [LayerPlace.vendor, .recommended, .managed] {
            scan.add(places[place], layer: place.layer)
        }
        (files, problems, remarks) = (scan.files, scan.problems, scan.remarks)
    }

    /// Lists the files of a directory, as one of the places.
    public init(of directory: String, as place: LayerPlace) {
        var scan = PlaceScan(remembering: [])
        scan.add(directory, layer: place.layer)
        (files, problems, remarks) = (scan.files, scan.problems, scan.remarks)
    }
}
