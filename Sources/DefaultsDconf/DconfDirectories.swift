package import DconfFiles

/// Directories of settings, however many there are.
///
/// Whether a setting is below one of them takes as long as its own path, not as there are directories.
package struct DconfDirectories: Sendable {
    private var paths: Set<ArraySlice<UInt8>> = []
    private var lengths: Set<Int> = []

    /// Whether there are none.
    package var isEmpty: Bool { paths.isEmpty }

    /// - Parameter path: A path with a slash at its end.
    mutating func insert(_ path: String) {
        paths.insert(ArraySlice(path.utf8))
        lengths.insert(path.utf8.count)
    }

    /// Whether a setting is below one of them.
    package func contain(_ path: SettingsPath) -> Bool {
        let bytes = Array(path.path.utf8)
        return bytes.indices.contains { index in
            bytes[index] == UInt8(ascii: "/") && lengths.contains(index + 1)
                && paths.contains(bytes[...index])
        }
    }
}
