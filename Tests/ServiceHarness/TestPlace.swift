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
    /// The date that services have there.
    let date = HeldDate()

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

    /// The path of a file of the layers.
    ///
    /// - Parameter name: Its path below their directory, such as `managed/a.b.json`.
    func layerFile(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Writes a file of the layers, with the directories that are missing.
    func writeLayerFile(_ name: String, _ text: String) throws {
        let parent = URL(filePath: layerFile(name)).deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: parent, withIntermediateDirectories: true)
        try directory.write(text, to: name)
    }

    /// Removes the journal and the page, as the end of a session or a power cut does.
    func loseRuntimeDirectory() throws {
        try FileManager.default.removeItem(atPath: "\(files)/run")
        try FileManager.default.createDirectory(
            atPath: "\(files)/run", withIntermediateDirectories: false)
    }

    /// Opens the database as on a machine; nil is this one.
    func openDatabase(
        on machine: TestMachine?, report: @escaping (Notice) -> Void
    ) throws -> Database {
        let date = DateSource { [date] in date.seconds }
        guard let machine else { return try Database(at: location, date: date, report: report) }
        return try Database(
            at: location, boot: .ofThisBoot(), machine: machine.machine, date: date,
            report: report)
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
        let opened = try Database(at: location, date: DateSource { 0 }) { _ in }
        defer { opened.close() }
        let value = try opened.view.value(Domain(ofApplication: domain), Key(key))
        return value?.generation.rawValue
    }
}
