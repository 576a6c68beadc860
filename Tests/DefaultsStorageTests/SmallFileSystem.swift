import DefaultsStorage
import Foundation
import Glibc
import Testing

/// A file system of few MiB, unmounted at the end.
final class SmallFileSystem {
    let path: String

    /// Whether this user may mount one.
    static let isAvailable = (try? SmallFileSystem()) != nil

    init(mebibytes size: Int = 2) throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("small-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        let status = try Process.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            arguments: ["mount", "-t", "tmpfs", "-o", "size=\(size)m", "tmpfs", path])
        status.waitUntilExit()
        try #require(status.terminationStatus == 0)
    }

    deinit {
        _ = try? Scratch.output(of: "umount", "--lazy", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Takes all the space that is left.
    func fill() throws {
        _ = FileManager.default.createFile(atPath: "\(path)/filling", contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)/filling"))
        for size in [1 << 16, 1 << 10, 1] {
            while (try? file.write(contentsOf: Data(repeating: 7, count: size))) != nil {}
        }
    }

    func empty() throws {
        // A program that another test is just starting may hold the file, with its space, open.
        try #require(truncate("\(path)/filling", 0) == 0)
        try FileManager.default.removeItem(atPath: "\(path)/filling")
    }
}

/// A place for a database on a small file system, with its runtime directory elsewhere.
final class SmallDisk {
    let scratch: Scratch
    private let location: DatabaseLocation
    private let runtime: Scratch
    private let fileSystem: SmallFileSystem

    init(mebibytes size: Int = 2) throws {
        fileSystem = try SmallFileSystem(mebibytes: size)
        scratch = try Scratch(in: "\(fileSystem.path)/scratch")
        runtime = try Scratch()
        location = DatabaseLocation(
            directory: scratch.location.directory, runtimeDirectory: "\(runtime.root)/run")
    }

    func open() throws -> Database {
        try Database(at: location) { _ in }
    }

    func fill() throws {
        try fileSystem.fill()
    }

    func empty() throws {
        try fileSystem.empty()
    }
}
