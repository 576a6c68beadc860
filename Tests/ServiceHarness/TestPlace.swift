import DefaultsFiles
import DefaultsModel
import Foundation
import TestSupport

@testable import DefaultsStorage

/// The directories of a service under test, which are removed at the end.
final class TestPlace: Sendable {
    /// What they are on.
    enum Kind {
        /// A file system in memory, if the machine has one where it usually is.
        case memory
        /// The file system for temporary files.
        case disk
    }

    private let directory: TemporaryDirectory

    init(_ kind: Kind, _ setup: TestService.Setup = .init()) throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        directory = try TemporaryDirectory(in: kind == .memory && isThere ? memory : nil)
        try FileManager.default.createDirectory(
            atPath: "\(files)/run", withIntermediateDirectories: true)
        for place in LayerPlace.allCases {
            try FileManager.default.createDirectory(
                atPath: layers[place], withIntermediateDirectories: true)
        }
        for (name, text) in setup.layerFiles { try writeLayerFile(name, text) }
    }

    /// What a process leaves when it is killed.
    private var files: String { "\(directory.path)/files" }

    /// Where the database is.
    var database: String { "\(files)/defaultsd" }

    var location: DatabaseLocation {
        DatabaseLocation(directory: database, runtimeDirectory: "\(files)/run")
    }

    /// Where the files of administrators and vendors are.
    var layers: LayerPlaces {
        LayerPlaces(
            managed: "\(directory.path)/managed", recommended: "\(directory.path)/recommended",
            vendor: "\(directory.path)/vendor")
    }

    /// - Parameter name: The path below the directory of the layers, such as `managed/a.b.json`.
    func writeLayerFile(_ name: String, _ text: String) throws {
        try directory.write(text, to: name)
    }

    /// Puts copies in the place of all files, with the same names.
    ///
    /// What still has the old files open neither changes nor locks the new ones.
    func detachFiles() throws {
        let old = "\(directory.path)/\(UUID().uuidString)"
        try FileManager.default.moveItem(atPath: files, toPath: old)
        try FileManager.default.copyItem(atPath: old, toPath: files)
    }

    /// The generation of a key in a copy of the database that has no journal.
    func generationOnDisk(_ domain: String, _ key: String) throws -> UInt64? {
        let copy = "\(directory.path)/\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let location = DatabaseLocation(directory: copy, runtimeDirectory: nil)
        let opened = try Database(at: location) { _ in }
        defer { opened.close() }
        let value = try opened.view.value(Domain(ofApplication: domain), Key(key))
        return value?.generation.rawValue
    }
}
