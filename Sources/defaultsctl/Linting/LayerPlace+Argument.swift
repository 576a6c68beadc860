import ArgumentParser
import DefaultsFiles
@preconcurrency import Glibc

extension LayerPlace: ExpressibleByArgument {}

extension LayerPlace {
    /// The place that a file or a directory is in, or is; nil where that is none.
    init?(holding path: String) {
        let path = Self.real(path)
        for place in Self.allCases {
            let directory = Self.real(LayerPlaces.standard[place])
            if path == directory || path.hasPrefix(directory + "/") {
                self = place
                return
            }
        }
        return nil
    }

    /// The path without links, where the system finds it.
    private static func real(_ path: String) -> String {
        // The text is malloc's, and is freed once it is copied.
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
