import DefaultsFiles
import DefaultsModel
import Foundation
import Glibc
import TestSupport

/// A directory of files that a test makes.
struct Folder {
    let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws {
        directory = try TemporaryDirectory()
    }

    func make(directory name: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(name)", withIntermediateDirectories: true)
    }

    /// Writes files, and makes the directories that they are in.
    func write(_ text: String = "{}", to names: String...) throws {
        for name in names {
            let components = name.split(separator: "/").dropLast()
            try make(directory: components.joined(separator: "/"))
            try directory.write(text, to: name)
        }
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    /// The file as one of a layer.
    func file(_ name: String, _ layer: Layer = .managed) throws -> LayerFile {
        LayerFile(path: "\(path)/\(name)", domain: try Domain(name: "org.example.A", layer: layer))
    }
}
