import Foundation
import Glibc
import TestSupport
import Testing

/// What a hostile program can put in place of a file.
enum PlantedThing: String, CaseIterable, CustomTestStringConvertible {
    case linkToVictim, hardLinkOfVictim, hardLinkOfDatabase
    case linkToFolder, danglingLink, linkLoop
    case pipe, socket, device
    case emptyDirectory, filledDirectory
    case unreadable, emptyFile, noise, endlessFile

    var testDescription: String { rawValue }

    /// Puts it at a path, where there is nothing.
    ///
    /// - Parameter victims: The files of others that it may lead to.
    func plant(at path: String, _ victims: Victims) throws {
        switch self {
        case .linkToVictim: try check(symlink(victims.file, path), path)
        case .hardLinkOfVictim: try check(link(victims.file, path), path)
        case .hardLinkOfDatabase: try check(link(victims.database, path), path)
        case .linkToFolder: try check(symlink(victims.folder, path), path)
        case .danglingLink: try check(symlink("\(victims.directory)/none/none", path), path)
        case .linkLoop: try check(symlink(path, path), path)
        case .pipe: try check(mkfifo(path, 0o600), path)
        // Nobody listens at it: that takes no listener, and the path may be long.
        case .socket: try check(mknod(path, S_IFSOCK | 0o600, 0), path)
        case .device: try check(mknod(path, S_IFCHR | 0o600, Self.endlessZeros), path)
        case .emptyDirectory: try check(mkdir(path, 0o700), path)
        case .filledDirectory:
            try check(mkdir(path, 0o700), path)
            try Data("mine".utf8).write(to: URL(filePath: "\(path)/file"))
        case .unreadable: try write(Data(count: 64), to: path, mode: 0)
        case .emptyFile: try write(Data(), to: path)
        case .noise: try write(Self.bytes, to: path)
        case .endlessFile:
            try write(Data("SQLite".utf8), to: path)
            try check(truncate(path, 1 << 40), path)
        }
    }

    /// Whether this process may make devices.
    static let devicesCanBeMade: Bool = {
        guard let directory = try? TemporaryDirectory() else { return false }
        let path = directory.path + "/zero"
        guard mknod(path, S_IFCHR | 0o600, endlessZeros) == 0 else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }()

    /// The number of `/dev/zero`.
    private static let endlessZeros = dev_t(1 << 8 | 5)
    /// The same in every run.
    private static let bytes: Data = {
        var state: UInt64 = 88_172_645_463_325_252
        return Data(
            (0..<65536).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state)
            })
    }()

    private func write(_ data: Data, to path: String, mode: mode_t = 0o600) throws {
        try data.write(to: URL(filePath: path))
        try check(chmod(path, mode), path)
    }

    private func check(_ result: Int32, _ path: String) throws {
        guard result == 0 else { throw CannotPlant(what: "\(self) at \(path)", number: errno) }
    }
}

/// What the tests could not put in place.
struct CannotPlant: Error {
    let what: String
    let number: Int32
}

/// Files of other programs, outside of the daemon's directories.
struct Victims {
    let directory: String
    var file: String { "\(directory)/victim" }
    /// A SQLite database of another program.
    var database: String { "\(directory)/database" }
    var folder: String { "\(directory)/folder" }

    /// Makes them in a directory; others may read them.
    init(in parent: String) throws {
        directory = "\(parent)/others"
        for path in [directory, folder] {
            guard mkdir(path, 0o755) == 0, chmod(path, 0o755) == 0 else { throw NeverCame() }
        }
        let text = String(repeating: "another program's\n", count: 1000)
        // The names of the daemon's own files are in the folder, too.
        try FileManager.default.copyItem(atPath: try Self.otherDatabase.get(), toPath: database)
        guard chmod(database, 0o644) == 0 else { throw NeverCame() }
        for path in [file, "\(folder)/direct", "\(folder)/defaults.db", "\(folder)/lock"] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            guard chmod(path, 0o644) == 0 else { throw NeverCame() }
        }
    }

    private static let otherDatabase = Result {
        let path = try TemporaryDirectory.shared().path + "/database"
        _ = try Python.run(
            """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.executescript("CREATE TABLE theirs (name); INSERT INTO theirs VALUES ('x')")
            """, arguments: [path])
        return path
    }

    /// Each file with its mode and what it has, for comparison.
    func state() throws -> [String: String] {
        let names = FileManager.default.enumerator(atPath: directory)?.allObjects as? [String]
        var states: [String: String] = [:]
        for name in [""] + (names ?? []) {
            var status = stat()
            let path = "\(directory)/\(name)"
            guard lstat(path, &status) == 0 else { continue }
            let isFile = status.st_mode & S_IFMT == S_IFREG
            let contents = isFile ? try Data(contentsOf: URL(filePath: path)) : Data()
            states[name] = "\(String(status.st_mode, radix: 8)) \(contents.hashValue)"
        }
        return states
    }
}
