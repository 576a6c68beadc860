import Foundation
import TestSupport

/// The files of administrators and vendors, which are in the desktop's own directory: the machine's
/// have no part in tests.
extension Desktop {
    /// The directories that the daemon reads; none is there before a file is put in it.
    enum LayerPlace: String, CaseIterable {
        case managed, recommended, vendor
    }

    /// What tells the daemon of those directories.
    static func layerOptions(in directory: String) -> String {
        LayerPlace.allCases.map { "--\($0) \(directory)/\($0)" }.joined(separator: " ")
    }

    /// The path of a file, such as `org.example.Editor.json`, in one of the directories.
    func path(of file: String, in place: LayerPlace) -> String {
        "\(directory.path)/\(place)/\(file)"
    }

    /// Writes a file as a package manager does: beside its place, then it gets its name.
    func write(_ contents: String, to file: String, in place: LayerPlace) throws {
        let path = path(of: file, in: place)
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path,
            withIntermediateDirectories: true)
        try contents.write(toFile: path, atomically: true, encoding: .utf8)
    }

    func remove(_ file: String, in place: LayerPlace) throws {
        try FileManager.default.removeItem(atPath: path(of: file, in: place))
    }
}
